"""Report on a comparison with PyTorch, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.slot_row import KeyRuns, runs_of
from dispatch_cli.crossref.answers import Compared, Disagreement
from dispatch_cli.crossref.compare import Count


@dataclass(frozen=True, slots=True)
class CrossrefReport:
    """A comparison. source: whose answers they were."""

    REPORT: ClassVar[str] = "crossref"

    universe: str
    source: str
    equal: bool
    counts: tuple[Count, ...]
    differences: tuple[Disagreement, ...]


class FoldedDifference(NamedTuple):
    """Keys of an operator about which the engine and PyTorch differ in the same way."""

    part: Compared
    keys: KeyRuns
    ours: str | None
    theirs: str | None


def folded(report: CrossrefReport, places: Mapping[str, int]) -> Iterator[tuple[str, list[FoldedDifference]]]:
    """The differences by operator; keys of a part at which the same is said on either side are together.

    places: of the slots in a table.
    """
    for operator, own in groupby(report.differences, key=lambda row: row.operator):
        alike: dict[tuple[Compared, str | None, str | None], list[str]] = {}
        for difference in own:
            alike.setdefault((difference.part, difference.ours, difference.theirs), []).append(difference.key or "")
        yield operator, [FoldedDifference(part, runs_of(keys, places), *both) for (part, *both), keys in alike.items()]
