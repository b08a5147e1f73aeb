"""The part of the screen with the views: one, or table and slot beside each other where there is room."""

from __future__ import annotations

import traceback
from importlib import import_module

from textual.app import ComposeResult
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from dispatch_cli.explore.panes import PaneEntry, panes_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.render.printed import safe_lines

_FRAMES = 4
"""Calls that an error shows, the innermost ones."""
_MOST = 4_000
"""Characters of it that are shown, the last ones."""
BESIDE = ("table", "slot")
"""The views that stand beside each other on a wide screen."""
WIDE = 150
"""Columns from which they do."""


class FailedView(VerticalScroll):
    """View in the place of one that failed."""

    DEFAULT_CSS = "FailedView { padding: 1 2; & > Static { width: 1fr; } }"
    can_focus = True

    def __init__(self, title: str, error: BaseException) -> None:
        super().__init__()
        self.title = title
        self.error = error

    def compose(self) -> ComposeResult:
        calls = "".join(traceback.format_exception(self.error, limit=-_FRAMES))[-_MOST:]
        yield Static(
            Content.assemble(
                (f"{self.title} cannot be shown\n\n", "bold $text-error"),
                "This is a bug in dispatch-cli. The other views go on.\n\n",
                safe_lines(calls),
            ),
            markup=False,
        )


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
    PaneStage > FailedView { width: 1fr; height: 1fr; }
    PaneStage > .-second { border-left: vkey $panel; }
    """

    def __init__(self, session: Session, front: str, spot: Spot, *, id: str | None = None) -> None:  # noqa: A002
        """front, spot: the view and the place to begin with, which are in the first frame."""
        super().__init__(id=id)
        self.session = session
        self.entries = {entry.id: entry for entry in panes_of(session.trace is not None)}
        self.views: dict[str, Pane | FailedView] = {}
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
        """The view that has the command line; None if it failed, or is not there yet."""
        view = self.views.get(self.front)
        return view if isinstance(view, Pane) else None

    def _beside(self, front: str) -> tuple[str, ...]:
        """The views to show where one is in front."""
        return BESIDE if self.app.size.width >= WIDE and front in BESIDE else (front,)

    async def show(self, front: str, spot: Spot) -> None:
        """Bring a view to the front, at a place."""
        self.front, self.shown = front, self._beside(front)
        for name in self.shown:
            if isinstance(view := self.views.get(name), FailedView):
                await view.remove()
                del self.views[name]
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
            if isinstance(view, Pane) and view is not but:
                try:
                    view.open(spot)
                except Exception as error:
                    self._fail(name, view, error)

    def id_of(self, view: Widget) -> str | None:
        """The id of the view that a widget is, or is in."""
        inside = set(view.ancestors_with_self)
        return next((name for name, view in self.views.items() if view in inside), None)

    def _fail(self, name: str, failed: Pane, error: Exception) -> None:
        """Put an error in the place of the view in which it happened, until the view is next brought to the front."""
        shown = self.views[name] = FailedView(self.entries[name].title, error)
        had_focus = failed.has_focus_within
        self.mount(shown, after=failed)
        failed.remove()
        if had_focus:
            shown.focus()

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
