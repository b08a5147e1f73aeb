"""The places where the user was, for going back and forward."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.explore.session import Spot

MOST = 500
"""Places that are remembered."""


class VisitedPlace(NamedTuple):
    """A place. pane: the id of the view in front. listed: the list of operators had the focus."""

    spot: Spot
    pane: str
    listed: bool = True


class Visits:
    """Places of the user: the current one, those before it, and those that the user went back from."""

    def __init__(self, first: VisitedPlace) -> None:
        self._visits = [first]
        self._at = 0

    @property
    def here(self) -> VisitedPlace:
        """Current place of the user."""
        return self._visits[self._at]

    def go(self, visit: VisitedPlace) -> None:
        """Go to another place; places that the user went back from are forgotten."""
        if visit == self.here:
            return
        self._visits[self._at + 1 :] = [visit]
        del self._visits[: max(0, len(self._visits) - MOST)]
        self._at = len(self._visits) - 1

    def move(self, visit: VisitedPlace) -> None:
        """A step that is not worth going back from, such as the cursor's."""
        self._visits[self._at] = visit

    def back(self) -> VisitedPlace | None:
        """The place before, where the user is from now on; None where there is none."""
        return self._step(-1)

    def forward(self) -> VisitedPlace | None:
        """The place that was last gone back from."""
        return self._step(1)

    def _step(self, by: int) -> VisitedPlace | None:
        if not 0 <= self._at + by < len(self._visits):
            return None
        self._at += by
        return self.here
