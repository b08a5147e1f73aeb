"""Slots at which Python's ``resolve_key`` chooses another key than the C++ table, put together for reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.answers.shared.folding import KeyRuns, runs_of
from dispatch_cli.engine.python.table import Divergence, Reason
from dispatch_cli.engine.rules import Rule


class SlotChoice(NamedTuple):
    """Choice of one of two algorithms for a slot.

    source: the key at which the kernel is registered; None for a backend fallback, and where there is no kernel.
    """

    rule: Rule
    source: str | None


class PythonDifference(NamedTuple):
    """A slot at which C++ and Python choose different keys.

    because: the keys whose kernels make the difference.
    """

    key: str
    cpp: SlotChoice
    python: SlotChoice
    reason: Reason
    because: tuple[str, ...]


class ReasonCount(NamedTuple):
    """Numbers of slots, and of their operators, that C++ and Python decide differently for one reason."""

    reason: Reason
    slots: int
    operators: int


class DivergenceGroup(NamedTuple):
    """Slots *keys* of an operator that C++ and Python decide otherwise in the same way, for the same reason."""

    reason: Reason
    because: tuple[str, ...]
    keys: KeyRuns
    cpp: SlotChoice
    python: SlotChoice


def difference_of(divergence: Divergence) -> PythonDifference:
    """A divergence of the engine, as far as it says which kernels run."""
    cpp, python = (SlotChoice(decision.rule, decision.source) for decision in (divergence.cpp, divergence.python))
    return PythonDifference(divergence.key, cpp, python, divergence.reason, divergence.because)


def by_reason(divergences: Sequence[tuple[str, PythonDifference]]) -> tuple[ReasonCount, ...]:
    """Number of divergences for each reason that occurs."""
    counts = []
    for reason in Reason:
        operators = [operator for operator, divergence in divergences if divergence.reason is reason]
        if operators:
            counts.append(ReasonCount(reason, len(operators), len(set(operators))))
    return tuple(counts)


def groups_of(differences: Iterable[PythonDifference], places: Mapping[str, int]) -> list[DivergenceGroup]:
    """Slots of an operator with the same differences together, by reason. places: of the slots."""
    alike: dict[tuple[Reason, tuple[str, ...], SlotChoice, SlotChoice], list[str]] = {}
    for slot in differences:
        # Which rule led to a kernel matters less than the kernel: a key's own and an alias's are told apart by the key.
        answers = _coarse(slot.cpp), _coarse(slot.python)
        alike.setdefault((slot.reason, slot.because, *answers), []).append(slot.key)
    groups = [
        DivergenceGroup(reason, because, runs_of(keys, places), cpp, python)
        for (reason, because, cpp, python), keys in alike.items()
    ]
    order = list(Reason)
    return sorted(groups, key=lambda group: (order.index(group.reason), group.keys))


def _coarse(answer: SlotChoice) -> SlotChoice:
    return answer if answer.source is None else SlotChoice(Rule.KERNEL, answer.source)
