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
BESIDE = ("table", "slot")
"""The views that stand beside each other on a wide screen."""


class FailedView(VerticalScroll):
    """View in the place of one that failed."""

    DEFAULT_CSS = "FailedView { padding: 1 2; & > Static { width: 1fr; } }"
    can_focus = True

    def __init__(self, title: str, error: BaseException) -> None:
        super().__init__()
        self.title = title
        self.error = error

    def compose(self) -> ComposeResult:
        text = str(self.error)[:2_000]
        where = traceback.extract_tb(self.error.__traceback__)[-_FRAMES:]
        calls = "\n".join(
            f"  {frame.filename.rpartition('dispatch_cli')[2]}:{frame.lineno} in {frame.name}" for frame in where
        )
        yield Static(
            Content.assemble(
                (f"{self.title} cannot be shown\n\n", "bold $text-error"),
                f"{type(self.error).__name__}: {safe_lines(text)}\n\n",
                "This is a bug in dispatch-cli. The other views go on.\n\n",
                (safe_lines(calls), "$text-muted"),
            ),
            markup=False,
        )


def pane_class(entry: PaneEntry) -> type[Pane]:
    """The class of a view, whose module is imported now."""
    module = import_module(f"dispatch_cli.explore.panes.{entry.id}")
    own = (kind for kind in vars(module).values() if isinstance(kind, type) and kind.__module__ == module.__name__)
    return next(kind for kind in own if issubclass(kind, Pane))


class PaneStage(Horizontal):
    """The views. Each is made when it is first shown, and told where the user is while it is shown."""

    DEFAULT_CSS = """
    PaneStage { width: 1fr; }
    PaneStage > Pane { width: 1fr; height: 1fr; }
    PaneStage > FailedView { width: 1fr; height: 1fr; }
    PaneStage > .-second { border-left: vkey $panel; }
    """

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(id=id)
        self.session = session
        self.entries = {entry.id: entry for entry in panes_of(session.trace is not None)}
        self.views: dict[str, Pane | FailedView] = {}
        self.shown: tuple[str, ...] = ()
        self._first = Spot()

    def begin(self, ids: tuple[str, ...], spot: Spot) -> None:
        """Set the views to begin with, and their spot: they are in the first frame."""
        self.shown, self._first = ids, spot

    def compose(self) -> ComposeResult:
        for name in self.shown:
            yield self._new_view(name)

    def on_mount(self) -> None:
        for name in self.shown:
            self.views[name].set_class(name in self.shown[1:], "-second")
            self.open(name, self._first)

    def beside(self, front: str, wide: bool) -> tuple[str, ...]:
        """The views to show where one is in front."""
        both = wide and front in BESIDE and all(view_id in self.entries for view_id in BESIDE)
        return BESIDE if both else (front,)

    async def show(self, ids: tuple[str, ...], spot: Spot) -> None:
        """Bring views to the front, and open a place in those that were not there."""
        new = [view_id for view_id in ids if view_id not in self.shown or view_id not in self.views]
        for view_id in new:
            view = self.views.get(view_id)
            if view is not None and not isinstance(view, Pane):  # it failed
                await self.views.pop(view_id).remove()
        self.shown = ids
        for view_id in ids:
            if view_id not in self.views:
                await self.mount(self._new_view(view_id))
        for name, view in self.views.items():
            view.display = name in ids
            view.set_class(name in ids[1:], "-second")
        for view_id in new:
            self.open(view_id, spot)

    def open(self, name: str, spot: Spot) -> None:
        """Tell a view where the user is."""
        view = self.views.get(name)
        if isinstance(view, Pane):
            try:
                view.open(spot)
            except Exception as error:
                self._fail(name, view, error)

    def open_all(self, spot: Spot, but: Widget | None = None) -> None:
        """Tell all that are shown, except one."""
        for name in self.shown:
            if self.views.get(name) is not but:
                self.open(name, spot)

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

    async def renew(self, spot: Spot) -> None:
        """Make all views anew: the keys of the state are other ones."""
        for view in self.views.values():
            await view.remove()
        self.views.clear()
        await self.show(self.shown, spot)

    def focus_on(self, name: str) -> None:
        """The keys go to the first part of a view."""
        view = self.views.get(name)
        if view is None or view.has_focus_within:
            return
        targets = [target for target in (view, *view.query("*")) if target.focusable]
        # what is typed into comes last: keys of the view would be text there
        target = next((target for target in targets if not isinstance(target, Input)), next(iter(targets), None))
        if target is not None:
            self.screen.set_focus(target)

    def _new_view(self, name: str) -> Pane:
        entry = self.entries[name]
        view = self.views[name] = pane_class(entry)(self.session, id=f"pane-{name}")
        return view
