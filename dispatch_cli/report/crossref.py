"""What a comparison with PyTorch found, put together so that a person can read it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import NamedTuple

from dispatch_cli.crossref.compare import Compared, Comparison
from dispatch_cli.report.divergences import DivergenceGroup, ReasonCount, by_reason, difference_of, groups_of
from dispatch_cli.report.folding import KeyRuns, runs_of

SCHEMA_VERSION = 1


class FoldedDifference(NamedTuple):
    """Keys of an operator about which the engine and PyTorch differ in the same way."""

    part: Compared
    keys: KeyRuns
    ours: str | None
    theirs: str | None


class CrossrefReport(NamedTuple):
    """A comparison, and where C++ and Python differ: by reason, and in groups; empty where that was not asked for."""

    comparison: Comparison
    reasons: tuple[ReasonCount, ...]
    groups: tuple[DivergenceGroup, ...]


def crossref_report(comparison: Comparison) -> CrossrefReport:
    """Put a comparison together."""
    divergences = [(operator, difference_of(one)) for operator, one in comparison.divergences or ()]
    return CrossrefReport(comparison, by_reason(divergences), groups_of(divergences, _places(comparison)))


def folded(comparison: Comparison) -> Iterator[tuple[str, list[FoldedDifference]]]:
    """The differences by operator; keys of a part at which the same is said on either side are together."""
    places = _places(comparison)
    for operator, own in groupby(comparison.differences, key=lambda one: one.operator):
        alike: dict[tuple[Compared, str | None, str | None], list[str]] = {}
        for one in own:
            alike.setdefault((one.part, one.ours, one.theirs), []).append(one.key)
        yield operator, [FoldedDifference(part, runs_of(keys, places), *said) for (part, *said), keys in alike.items()]


def _places(comparison: Comparison) -> dict[str, int]:
    return {key: place for place, key in enumerate(comparison.slots)}
