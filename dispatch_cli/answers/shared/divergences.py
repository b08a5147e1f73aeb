"""Slots at which Python's ``resolve_key`` chooses another key than the C++ table, put together for reading."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    """Operators whose slots *keys* C++ and Python decide otherwise in the same way, for the same reason."""

    reason: Reason
    because: tuple[str, ...]
    keys: KeyRuns
    cpp: SlotChoice
    python: SlotChoice
    operators: tuple[str, ...]


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


def groups_of(
    divergences: Sequence[tuple[str, PythonDifference]], places: Mapping[str, int]
) -> tuple[DivergenceGroup, ...]:
    """Operators with the same differences together; the groups that hold most first. places: of the slots."""
    runs: dict[tuple[str, Reason, tuple[str, ...], SlotChoice, SlotChoice], list[str]] = {}
    for operator, divergence in divergences:
        # Which rule led to a kernel matters less than the kernel: a key's own and an alias's are told apart by the key.
        answers = _coarse(divergence.cpp), _coarse(divergence.python)
        runs.setdefault((operator, divergence.reason, divergence.because, *answers), []).append(divergence.key)
    groups: dict[tuple[Reason, tuple[str, ...], KeyRuns, SlotChoice, SlotChoice], list[str]] = {}
    for (operator, reason, because, cpp, python), keys in runs.items():
        groups.setdefault((reason, because, runs_of(keys, places), cpp, python), []).append(operator)
    order = list(Reason)
    merged = [DivergenceGroup(*group, tuple(operators)) for group, operators in groups.items()]
    return tuple(sorted(merged, key=lambda group: (order.index(group.reason), -len(group.operators), group.keys)))


def _coarse(answer: SlotChoice) -> SlotChoice:
    return answer if answer.source is None else SlotChoice(Rule.KERNEL, answer.source)
