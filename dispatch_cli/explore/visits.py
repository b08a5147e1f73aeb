"""Places that the user has been to, for the key that goes back."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.explore.session import Spot


class VisitedPlace(NamedTuple):
    """A place. pane: the id of the view in front. listed: the list of operators had the focus."""

    spot: Spot
    pane: str
    listed: bool = True


class Visits:
    """Places of the user: the current one, and those before it."""

    def __init__(self, first: VisitedPlace) -> None:
        self._visits = [first]

    @property
    def here(self) -> VisitedPlace:
        """Current place of the user."""
        return self._visits[-1]

    def go(self, visit: VisitedPlace) -> None:
        """Go to another place."""
        if visit != self.here:
            self._visits.append(visit)

    def move(self, visit: VisitedPlace) -> None:
        """A step that is not worth going back from, such as the cursor's."""
        self._visits[-1] = visit

    def back(self) -> bool:
        """Go to the place before; true if there was one."""
        return len(self._visits) > 1 and bool(self._visits.pop())
