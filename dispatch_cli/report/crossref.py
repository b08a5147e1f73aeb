"""What a comparison with PyTorch found, put together so that a person can read it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from dispatch_cli.crossref.compare import Comparison, Part
from dispatch_cli.engine.python_table import Divergence, Reason
from dispatch_cli.engine.rules import Decision, Rule

SCHEMA_VERSION = 1


Runs = tuple[tuple[str, ...], ...]
"""Keys, those that are neighbours in a table together."""


class FoldedDifference(NamedTuple):
    """Keys of an operator about which the engine and PyTorch differ in the same way."""

    part: Part
    keys: Runs
    ours: str | None
    theirs: str | None


class Choice(NamedTuple):
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
    cpp: Choice
    python: Choice
    operators: tuple[str, ...]


class CrossrefReport(NamedTuple):
    """A comparison, and where C++ and Python differ: by reason, and in groups; empty where that was not asked for."""

    comparison: Comparison
    reasons: tuple[ReasonCount, ...]
    groups: tuple[DivergenceGroup, ...]


def crossref_report(comparison: Comparison) -> CrossrefReport:
    """Put a comparison together."""
    divergences = comparison.divergences or ()
    return CrossrefReport(comparison, _by_reason(divergences), _groups(divergences, _places(comparison)))


def folded(comparison: Comparison) -> Iterator[tuple[str, list[FoldedDifference]]]:
    """The differences by operator; keys of a part at which the same is said on either side are together."""
    places = _places(comparison)
    for operator, own in groupby(comparison.differences, key=lambda one: one.operator):
        alike: dict[tuple[Part, str | None, str | None], list[str]] = {}
        for one in own:
            alike.setdefault((one.part, one.ours, one.theirs), []).append(one.key)
        yield operator, [FoldedDifference(part, _runs(keys, places), *said) for (part, *said), keys in alike.items()]


def _places(comparison: Comparison) -> dict[str, int]:
    return {key: place for place, key in enumerate(comparison.slots)}


def _runs(keys: Iterable[str], places: Mapping[str, int]) -> Runs:
    runs: list[list[str]] = []
    for key in keys:
        if runs and places.get(key, -1) == places.get(runs[-1][-1], -3) + 1:
            runs[-1].append(key)
        else:
            runs.append([key])
    return tuple(map(tuple, runs))


def choice(decision: Decision) -> Choice:
    """A decision about a slot, as far as it says which kernel runs."""
    return Choice(decision.rule, decision.source)


def _by_reason(divergences: tuple[tuple[str, Divergence], ...]) -> tuple[ReasonCount, ...]:
    counts = []
    for reason in Reason:
        operators = [operator for operator, divergence in divergences if divergence.reason is reason]
        if operators:
            counts.append(ReasonCount(reason, len(operators), len(set(operators))))
    return tuple(counts)


def _groups(divergences: tuple[tuple[str, Divergence], ...], places: Mapping[str, int]) -> tuple[DivergenceGroup, ...]:
    """The groups that hold most first."""
    runs: dict[tuple[str, Reason, tuple[str, ...], Choice, Choice], list[str]] = {}
    for operator, one in divergences:
        # Which rule led to a kernel matters less than the kernel: a key's own and an alias's are told apart by the key.
        answers = _coarse(choice(one.cpp)), _coarse(choice(one.python))
        runs.setdefault((operator, one.reason, one.because, *answers), []).append(one.key)
    groups: dict[tuple[Reason, tuple[str, ...], Runs, Choice, Choice], list[str]] = {}
    for (operator, reason, because, cpp, python), keys in runs.items():
        groups.setdefault((reason, because, _runs(keys, places), cpp, python), []).append(operator)
    order = list(Reason)
    found = [DivergenceGroup(*group, tuple(operators)) for group, operators in groups.items()]
    return tuple(sorted(found, key=lambda group: (order.index(group.reason), -len(group.operators), group.keys)))


def _coarse(answer: Choice) -> Choice:
    return answer if answer.key is None else Choice(Rule.KERNEL, answer.key)
