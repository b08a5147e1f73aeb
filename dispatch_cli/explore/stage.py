"""The part of the screen with the views: one, or table and slot beside each other where there is room."""

from __future__ import annotations

import traceback
from importlib import import_module

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import DescendantFocus
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from dispatch_cli.explore.contained import Contained
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes import PaneEntry, panes_of
from dispatch_cli.explore.session import Session, Spot
from dispatch_cli.render.text_safety import safe, safe_lines

BESIDE = ("table", "slot")
"""The views that stand beside each other on a wide screen."""
_FRAMES = 4
"""Calls that an error shows, the innermost ones."""


def pane_class(entry: PaneEntry) -> type[Pane]:
    """The class of a view, whose module is imported now."""
    module = import_module(f"dispatch_cli.explore.panes.{entry.id}")
    own = (one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__)
    return next(one for one in own if issubclass(one, Pane))


class FailedView(Contained, VerticalScroll):
    """What is shown in the place of a view that failed."""

    DEFAULT_CSS = "FailedView { padding: 1 2; & > Static { width: 1fr; } }"
    BINDINGS = [Binding("r", "again", "Try again")]  # noqa: RUF012  (textual's way)
    can_focus = True

    class Again(Message):
        """The view is wanted once more."""

        def __init__(self, view: FailedView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, title: str, error: BaseException) -> None:
        super().__init__()
        self.title = title
        self.error = error

    def compose(self) -> ComposeResult:
        text = str(self.error)[:2_000]
        where = traceback.extract_tb(self.error.__traceback__)[-_FRAMES:]
        calls = "\n".join(f"  {one.filename.rpartition('dispatch_cli')[2]}:{one.lineno} in {one.name}" for one in where)
        yield Static(
            Content.assemble(
                (f"{self.title} cannot be shown\n\n", "bold $text-error"),
                f"{type(self.error).__name__}: {safe_lines(text)}\n\n",
                "This is a bug in dispatch-cli. The other views go on; r tries this one again.\n\n",
                (safe_lines(calls), "$text-muted"),
            ),
            markup=False,
        )

    def action_again(self) -> None:
        self.post_message(self.Again(self))


class PaneStage(Contained, Horizontal):
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
        self._focused: dict[str, Widget] = {}
        self._first = Spot()

    def begin(self, ids: tuple[str, ...], spot: Spot) -> None:
        """Which views there are from the start, and where: they are in the first frame."""
        self.shown, self._first = ids, spot

    def compose(self) -> ComposeResult:
        for name in self.shown:
            yield self._made(name)

    def on_mount(self) -> None:
        for name in self.shown:
            self.views[name].set_class(name in self.shown[1:], "-second")
            self.open(name, self._first)

    def beside(self, front: str, wide: bool) -> tuple[str, ...]:
        """The views to show where one is in front."""
        both = wide and front in BESIDE and all(one in self.entries for one in BESIDE)
        return BESIDE if both else (front,)

    async def show(self, ids: tuple[str, ...], spot: Spot) -> None:
        """Bring views to the front, and open a place in those that were not there."""
        new = [one for one in ids if one not in self.shown or one not in self.views]
        self.shown = ids
        for one in ids:
            if one not in self.views:
                await self.mount(self._made(one))
        for name, view in self.views.items():
            view.display = name in ids
            view.set_class(name in ids[1:], "-second")
        for one in new:
            self.open(one, spot)

    def open(self, name: str, spot: Spot) -> None:
        """Tell a view where the user is."""
        view = self.views.get(name)
        if isinstance(view, Pane):
            try:
                view.open(spot)
            except Exception as error:
                self.app.failed(error, view)  # type: ignore[attr-defined]

    def open_all(self, spot: Spot, but: Widget | None = None) -> None:
        """Tell all that are shown, except one."""
        for name in self.shown:
            if self.views.get(name) is not but:
                self.open(name, spot)

    def id_of(self, view: Widget) -> str | None:
        """The id of the view that a widget is, or is in."""
        inside = set(view.ancestors_with_self)
        return next((name for name, one in self.views.items() if one in inside), None)

    def fail(self, view: Widget, error: BaseException) -> bool:
        """Put an error in the place of the view in which it happened; False where it happened in none."""
        name = self.id_of(view)
        if name is None:
            return False
        failed, shown = self.views[name], FailedView(self.entries[name].title, error)
        if isinstance(failed, FailedView):
            return False
        self.views[name] = shown
        shown.display = failed.display
        had_focus = failed.has_focus_within
        self.mount(shown, after=failed)
        failed.remove()
        if had_focus:
            shown.focus()
        return True

    async def again(self, failure: FailedView, spot: Spot) -> None:
        """Make a view that failed anew."""
        name = self.id_of(failure)
        if name is not None:
            del self.views[name]
            await failure.remove()
            await self.show(self.shown, spot)
            self.focus_on(name)

    async def renew(self, spot: Spot) -> None:
        """Make all views anew: the keys of the state are other ones."""
        for view in self.views.values():
            await view.remove()
        self.views.clear()
        self._focused.clear()
        await self.show(self.shown, spot)

    def focus_on(self, name: str) -> None:
        """The keys go to a view: to where they last went in it, else to its first part."""
        view = self.views.get(name)
        if view is None or view.has_focus_within:
            return
        last = self._focused.get(name)
        targets = [*([last] if last is not None and last.is_attached else []), view, *view.query("*")]
        targets = [one for one in targets if one.focusable]
        # what is typed into comes last: keys of the view would be text there
        target = next((one for one in targets if not isinstance(one, Input)), next(iter(targets), None))
        if target is not None:
            self.screen.set_focus(target)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Note where the keys go in each view."""
        name = self.id_of(event.widget)
        if name in self.shown:  # what goes away passes the keys on first
            self._focused[name] = event.widget

    def _made(self, name: str) -> Pane | FailedView:
        entry = self.entries[name]
        view: Pane | FailedView
        try:
            view = pane_class(entry)(self.session, id=f"pane-{name}")
        except Exception as error:
            view = FailedView(entry.title, error)
        self.views[name] = view
        return view


def error_line(error: BaseException) -> str:
    """An error in one line."""
    text = str(error)
    return f"{type(error).__name__}: {safe(text[:300])}" if text else type(error).__name__
