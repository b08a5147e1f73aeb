"""Two universes held against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.keys.universe_differences import Aspect, universe_differences
from dispatch_cli.model.universe import Universe


class DifferenceRow(NamedTuple):
    """One difference. subject: the key, device or set that it is about; None where the aspect says all."""

    aspect: Aspect
    subject: str | None
    only_universe: tuple[str, ...]
    only_against: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DifferencesReport:
    """universe, against: the two names. differences: one by one, the enum ids last."""

    REPORT: ClassVar[str] = "universe-differences"

    universe: str
    against: str
    torch: str
    against_torch: str
    equal: bool
    differences: tuple[DifferenceRow, ...]


def differences_report(universe: Universe, other: Universe) -> DifferencesReport:
    """Every difference of two universes."""
    differences = universe_differences(universe, other)
    rows = tuple(DifferenceRow(each.aspect, each.subject or None, each.one, each.other) for each in differences)
    return DifferencesReport(universe.name, other.name, universe.torch, other.torch, not rows, rows)
