"""Two universes held against each other."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.keys.universe_differences import Aspect, UniverseDifference, universe_differences
from dispatch_cli.model.universe import Universe


class DifferencesReport(NamedTuple):
    """one, other: the two names. differences: but for ids, one by one; ids: keys that have another enum value."""

    one: str
    other: str
    one_torch: str
    other_torch: str
    differences: tuple[UniverseDifference, ...]
    ids: tuple[UniverseDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether nothing differs."""
        return not self.differences and not self.ids


def differences_report(one: Universe, other: Universe) -> DifferencesReport:
    """Every difference of two universes."""
    found = universe_differences(one, other)
    return DifferencesReport(
        one=one.name,
        other=other.name,
        one_torch=one.torch,
        other_torch=other.torch,
        differences=tuple(one for one in found if one.aspect is not Aspect.ID),
        ids=tuple(one for one in found if one.aspect is Aspect.ID),
    )
