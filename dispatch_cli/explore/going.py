"""Navigation: to operators, to views, and back."""

from __future__ import annotations

from typing import Any, NamedTuple

from textual import on
from textual.app import App
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from dispatch_cli.explore.operators.catalogue import Catalogue, Marked, spot_of
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.operators.pane import Operators
from dispatch_cli.explore.session import Spot
from dispatch_cli.explore.views.bars import Tabs
from dispatch_cli.explore.views.pane import SOON, Pane
from dispatch_cli.explore.views.stage import PaneStage


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


class Going(App[None]):
    """An application in which the user goes to places.

    front: the id of the view in front. is_wide: there is room for two views beside each other.
    """

    operators: Operators
    catalogue: Catalogue
    stage: PaneStage
    tabs: Tabs
    visits: Visits
    front: str
    is_wide = False

    def __init__(self) -> None:
        super().__init__()
        self._following: Timer | None = None

    @property
    def spot(self) -> Spot:
        """Current spot of the user."""
        return self.visits.here.spot

    def show_command(self) -> Any:
        """Show the command line of the view in front."""
        raise NotImplementedError

    # the cursor of the list

    @on(OperatorList.Moved, "#operator-list")
    def _cursor_moved(self, message: OperatorList.Moved) -> None:
        """The cursor of the list is at another operator."""
        self.visits.move(VisitedPlace(spot_of(message.target), self.front))
        if self._following is not None:
            self._following.stop()
        self._following = self.set_timer(SOON, self._follow)

    def _follow(self) -> None:
        """Show the operator under the cursor, unless the end came first. Whatever that changes is in one frame."""
        if self.is_running:
            self.stage.open_all(self.spot)
            self.show_command()

    @on(OperatorList.Opened, "#operator-list")
    async def _operator_opened(self, message: OperatorList.Opened) -> None:
        spot = spot_of(message.target)
        self.visits.move(VisitedPlace(spot, self.front))
        self.visits.go(VisitedPlace(spot, self.front, False))
        await self._arrive()

    async def on_pane_went(self, message: Pane.Went) -> None:
        message.stop()
        await self.go(message.spot, message.pane, message.view)

    async def go(self, spot: Spot, pane: str | None = None, sender: Widget | None = None) -> None:
        """Go to a place. sender: the view that says so, which shows the place already if it stays in front."""
        here = self.visits.here
        if pane is None or pane not in self.stage.entries:
            same = spot.operator == here.spot.operator and spot.higher_order == here.spot.higher_order
            visit = VisitedPlace(spot, self.front, here.listed)
            (self.visits.move if same else self.visits.go)(visit)
            self._show_in_list(spot)
            if spot != here.spot:
                self.stage.open_all(spot, sender)
            return
        self.visits.go(VisitedPlace(spot, pane, False))
        await self._arrive()

    async def _arrive(self) -> None:
        """Show where the user is, after going there or back."""
        visit = self.visits.here
        self._show_in_list(visit.spot)
        shown = self.stage.shown
        await self.to_front(visit.pane)
        for name in self.stage.shown:
            if name in shown:
                self.stage.open(name, visit.spot)
        if visit.listed:
            self.action_operators()
        else:
            self.stage.focus_on(visit.pane)

    async def to_front(self, pane: str) -> None:
        if pane not in self.stage.entries:
            return
        self.front = pane
        shown = self.stage.beside(pane, self.is_wide)
        self.tabs.show(shown)
        await self.stage.show(shown, self.spot)
        self.show_command()

    def _show_in_list(self, spot: Spot) -> None:
        number = self.catalogue.number_of(spot)
        if number is not None:
            self.operators.list.show(number)

    async def action_pane(self, pane: str) -> None:
        """Bring a view to the front, and the focus to it."""
        if pane not in self.stage.entries:
            return
        self.visits.go(VisitedPlace(self.spot, pane, False))
        await self.to_front(pane)
        self.stage.focus_on(pane)

    async def action_back(self) -> None:
        if self.visits.back():
            await self._arrive()
        else:
            self.action_operators()

    def action_mark(self, name: str) -> None:
        """List only operators with a mark."""
        self.operators.filter(Marked[name])

    def action_operators(self) -> None:
        self.screen.remove_class("-in-view")
        self.screen.set_focus(self.operators.list)

    def action_search(self) -> None:
        self.screen.remove_class("-in-view")
        self.screen.set_focus(self.operators.input)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's. Where a text is typed, the key of the search is a letter; a screen in front keeps all keys."""
        in_front = isinstance(self.screen, ModalScreen)
        if (action == "search" and (in_front or isinstance(self.focused, Input))) or (
            action == "command_palette" and in_front
        ):
            return False
        return super().check_action(action, parameters)
