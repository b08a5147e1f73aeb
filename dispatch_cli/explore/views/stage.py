"""The part of the screen with the views: one, or table and slot beside each other where there is room."""

from __future__ import annotations

from importlib import import_module

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Input

from dispatch_cli.explore.panes import PaneEntry, panes_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.pane import Pane

BESIDE = ("table", "slot")
"""The views that stand beside each other on a wide screen."""
WIDE = 150
"""Columns from which they do."""


def pane_class(entry: PaneEntry) -> type[Pane]:
    """The class of a view, whose module is imported now."""
    module = import_module(f"dispatch_cli.explore.panes.{entry.id}")
    kind: type[Pane] = getattr(module, f"{entry.id.capitalize()}Pane")
    return kind


class PaneStage(Horizontal):
    """The views. Each is made when it is first shown, and told where the user is while it is shown.

    front: the id of the one that has the command line. shown: all that are on the screen.
    """

    DEFAULT_CSS = """
    PaneStage { width: 1fr; }
    PaneStage > Pane { width: 1fr; height: 1fr; }
    PaneStage > .-second { border-left: vkey $panel; }
    """

    def __init__(self, session: Session, front: str, spot: Spot, *, id: str | None = None) -> None:  # noqa: A002
        """front, spot: the view and the place to begin with, which are in the first frame."""
        super().__init__(id=id)
        self.session = session
        self.entries = {entry.id: entry for entry in panes_of(session.trace is not None)}
        self.views: dict[str, Pane] = {}
        self.front = front
        self.shown: tuple[str, ...] = ()
        self._first = spot

    def compose(self) -> ComposeResult:
        self.shown = self._beside(self.front)
        for name in self.shown:
            yield self._new_view(name)

    def on_mount(self) -> None:
        self.open_all(self._first)

    @property
    def front_view(self) -> Pane | None:
        """The view that has the command line; None if it is not there yet."""
        return self.views.get(self.front)

    def _beside(self, front: str) -> tuple[str, ...]:
        """The views to show where one is in front."""
        return BESIDE if self.app.size.width >= WIDE and front in BESIDE else (front,)

    async def show(self, front: str, spot: Spot) -> None:
        """Bring a view to the front, at a place."""
        self.front, self.shown = front, self._beside(front)
        for name in self.shown:
            if name not in self.views:
                await self.mount(self._new_view(name))
        for name, pane in self.views.items():
            pane.display = name in self.shown
            pane.set_class(name in self.shown[1:], "-second")
        self.open_all(spot)

    def open_all(self, spot: Spot, but: Pane | None = None) -> None:
        """Tell all views that are shown where the user is, except one."""
        for name in self.shown:
            view = self.views.get(name)
            if view is not None and view is not but:
                try:
                    view.open(spot)
                except Exception as error:  # the view shows it
                    view.failed(error)

    def id_of(self, view: Widget) -> str | None:
        """The id of the view that a widget is, or is in."""
        inside = set(view.ancestors_with_self)
        return next((name for name, view in self.views.items() if view in inside), None)

    def focus_on(self, name: str) -> None:
        """The keys go to the first part of a view."""
        view = self.views.get(name)
        if view is None or view.has_focus_within:
            return
        targets = [target for target in (view, *view.query("*")) if target.focusable]
        # what is typed into comes last: keys of the view would be text there
        targets.sort(key=lambda target: isinstance(target, Input))
        if targets:
            self.screen.set_focus(targets[0])

    def _new_view(self, name: str) -> Pane:
        pane = self.views[name] = pane_class(self.entries[name])(self.session, id=f"pane-{name}")
        pane.set_class(name in self.shown[1:], "-second")
        return pane
