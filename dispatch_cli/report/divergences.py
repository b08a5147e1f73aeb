"""Slots at which Python's ``resolve_key`` chooses another key than the C++ table, put together for reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.engine.python.table import Divergence, Reason
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.report.folding import Runs


class SlotChoice(NamedTuple):
    """What one of two algorithms chooses for a slot. key: whose kernel it is; None for a fallback, or where none is."""

    rule: Rule
    key: str | None


class ReasonCount(NamedTuple):
    """How many slots, of how many operators, C++ and Python decide otherwise for one reason."""

    reason: Reason
    slots: int
    operators: int


class DivergenceGroup(NamedTuple):
    """Operators whose slots *keys* C++ and Python decide otherwise in the same way, for the same reason."""

    reason: Reason
    because: tuple[str, ...]
    keys: Runs
    cpp: SlotChoice
    python: SlotChoice
    operators: tuple[str, ...]


def choice(decision: Decision) -> SlotChoice:
    """A decision about a slot, as far as it says which kernel runs."""
    return SlotChoice(decision.rule, decision.source)


def by_reason(divergences: Sequence[tuple[str, Divergence]]) -> tuple[ReasonCount, ...]:
    """How many there are of each reason, of which there are any."""
    counts = []
    for reason in Reason:
        operators = [operator for operator, divergence in divergences if divergence.reason is reason]
        if operators:
            counts.append(ReasonCount(reason, len(operators), len(set(operators))))
    return tuple(counts)


def groups_of(divergences: Sequence[tuple[str, Divergence]], places: Mapping[str, int]) -> tuple[DivergenceGroup, ...]:
    """Operators with the same differences together; the groups that hold most first. places: of the slots."""
    runs: dict[tuple[str, Reason, tuple[str, ...], SlotChoice, SlotChoice], list[str]] = {}
    for operator, one in divergences:
        # Which rule led to a kernel matters less than the kernel: a key's own and an alias's are told apart by the key.
        answers = _coarse(choice(one.cpp)), _coarse(choice(one.python))
        runs.setdefault((operator, one.reason, one.because, *answers), []).append(one.key)
    groups: dict[tuple[Reason, tuple[str, ...], Runs, SlotChoice, SlotChoice], list[str]] = {}
    for (operator, reason, because, cpp, python), keys in runs.items():
        groups.setdefault((reason, because, runs_of(keys, places), cpp, python), []).append(operator)
    order = list(Reason)
    found = [DivergenceGroup(*group, tuple(operators)) for group, operators in groups.items()]
    return tuple(sorted(found, key=lambda group: (order.index(group.reason), -len(group.operators), group.keys)))


def _coarse(answer: SlotChoice) -> SlotChoice:
    return answer if answer.key is None else SlotChoice(Rule.KERNEL, answer.key)


def runs_of(keys: Iterable[str], places: Mapping[str, int]) -> Runs:
    """Keys in runs: those that are neighbours in a table together. places: of the slots."""
    runs: list[list[str]] = []
    for key in keys:
        if runs and places.get(key, -1) == places.get(runs[-1][-1], -3) + 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return tuple(map(tuple, runs))
