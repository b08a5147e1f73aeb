"""The application: operators at the left, views, and the command line that prints what is shown.

Its parts are widgets (`Operators`, `PaneStage`, the bars) and data (`Session`, `Visits`, `WatchedFiles`), none of which
knows the application: widgets post messages, which are handled here.
"""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import AppFocus, DescendantFocus
from textual.reactive import Reactive
from textual.screen import ModalScreen, Screen
from textual.theme import BUILTIN_THEMES
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input

from dispatch_cli.engine.state import State
from dispatch_cli.explore.files import WatchedFiles
from dispatch_cli.explore.operators.catalogue import Catalogue, Marked, spot_of
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.operators.pane import Operators
from dispatch_cli.explore.panes import PANES, SUPPORT, TRACE
from dispatch_cli.explore.session import CannotRead, PaneAnswer, Session, Spot
from dispatch_cli.explore.views.bars import CommandBar, Crumb, KeyBar, Tabs, command_line
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.stage import WIDE, PaneStage
from dispatch_cli.explore.visits import VisitedPlace, Visits
from dispatch_cli.render.printed import safe_lines

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel


THEMES = sorted(BUILTIN_THEMES)
"""The colours that the application can have."""
NARROW = 100
"""Columns below which the list of operators makes room for the view that has the focus."""
SOON = 0.04
"""Seconds for which the cursor of the list rests until views follow it."""
COPIED = 2.5
"""Seconds for which the notice of a copied command line stays."""
TO_SAVE = "(w writes this file)"
"""Remark of a command line that names the changes while they are not saved."""


class ExploreScreen(Screen[None]):
    """The screen. textual would paint all of it when the focus moves; widgets paint themselves then."""

    focused: Reactive[Widget | None] = Reactive(None, repaint=False)


class ExploreApp(App[None]):
    """The explorer of a state."""

    TITLE = "dispatch-cli"
    AUTO_FOCUS = "OperatorList, ModalScreen *"
    CSS = """
    #body { height: 1fr; }
    .-narrow Operators { width: 28; }
    .-narrow.-in-view Operators { display: none; }
    .-wide Operators { width: 44; }
    .-narrow TablePane > .below { height: 4; }
    ToastRack { margin-bottom: 4; scrollbar-size-vertical: 0; }
    Toast { width: auto; max-width: 100%; padding: 0 1; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-middle"), (WIDE, "-wide")]  # noqa: RUF012  (textual's way)
    BINDINGS: ClassVar[list[BindingType]] = [
        # done before the next key is looked at, which can be there already
        Binding(
            "slash",
            "search",
            "Search",
            tooltip="Search operators: type some letters of a name, or a glob: aten::add*, *.out",
            priority=True,
        ),
        *(Binding(entry.key, f"pane('{entry.id}')", entry.title, show=False) for entry in PANES),
        Binding("o", "operators", "To the list of operators", show=False),
        Binding("escape", "back", "Back to where you were before", show=False),
        Binding("backspace,alt+left", "back", "Back to where you were before", show=False),
        Binding("f5", "read_again", "Read the files again", show=False),
        Binding("u", "undo", "Undo", tooltip="Undo the last change on trial"),
        Binding("ctrl+r", "redo", "Redo", tooltip="Redo the change that was undone"),
        Binding("w", "write", "Write", tooltip="Write the changes on trial as a declaration file"),
        Binding("y", "copy", "Copy", tooltip="Copy the command line at the bottom"),
        Binding("ctrl+z", "suspend_process", "Suspend the program: fg in the shell continues it", show=False),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="Help: keys and marks of the view in front"),
        Binding("q", "quit", "Quit", tooltip="Quit the program"),
    ]

    def __init__(self, session: Session, front: str = PANES[0].id) -> None:
        """front: the view that is shown first, if there is no recording."""
        super().__init__()
        self.session = session
        self.operators = Operators(session, id="operators")
        if session.trace is not None:
            front = TRACE.id
            self.bind(TRACE.key, f"pane('{TRACE.id}')", description=TRACE.title, show=False)
        first = self.operators.list.entry
        spot = spot_of(first) if first is not None else Spot()
        self.visits = Visits(VisitedPlace(spot, front, listed=session.trace is None))
        self.stage = PaneStage(session, front, spot, id="stage")
        self.files = WatchedFiles()
        self.tabs, self.crumb = Tabs([*self.stage.entries.values()]), Crumb()
        self.command_bar = CommandBar()
        self._following: Timer | None = None
        self._asked_to_leave: State | None = None  # the state in which the user was told that it is not written

    @property
    def spot(self) -> Spot:
        """Current spot of the user."""
        return self.visits.here.spot

    @property
    def catalogue(self) -> Catalogue:
        """The operators that can be chosen."""
        return self.operators.catalogue

    @property
    def answer(self) -> PaneAnswer | None:
        """Answer that the view in front shows."""
        view = self.stage.front_view
        return None if view is None else view.answer

    # textual's

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,  # noqa: ARG002  (widgets pass it)
    ) -> None:
        """textual's. Names and texts of files can be in any message: it is never markup, and safe to print."""
        super().notify(safe_lines(message), title=title, severity=severity, timeout=timeout, markup=False)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """textual's. Keys for changes are there when they have something to do. Where a text is typed, the key of the
        search is a letter; a screen in front keeps all keys.
        """
        if action in ("undo", "redo", "write"):
            return self._can_change(action)
        if action in ("search", "command_palette") and isinstance(self.screen, ModalScreen):
            return False
        return not (action == "search" and isinstance(self.focused, Input))

    def _can_change(self, action: str) -> bool:
        if not self.session.has_tried:
            return False
        tried = self.session.whatif
        return {"undo": tried.can_undo, "redo": tried.can_redo, "write": bool(tried.changes)}[action]

    def get_default_screen(self) -> Screen[Any]:
        return ExploreScreen(id="_default")

    def compose(self) -> ComposeResult:
        yield self.tabs
        yield self.crumb
        with Horizontal(id="body"):
            yield self.operators
            yield self.stage
        yield self.command_bar
        yield KeyBar()

    def on_load(self) -> None:
        """Leave as by a key when the process is told to end; textual leaves the terminal as it is then.

        An exception from a signal, amid textual's own end, could leave its thread of input running for ever.
        """
        for number in [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]:
            if not self.is_headless and signal.getsignal(number) is not signal.SIG_IGN:
                with suppress(NotImplementedError):  # on Windows
                    asyncio.get_running_loop().add_signal_handler(number, partial(self.exit, return_code=128 + number))

    def on_mount(self) -> None:
        if not self.visits.here.listed:
            self.call_after_refresh(self.stage.focus_on, self.stage.front)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))  # after ctrl+z and fg
        self.show_command()
        self.call_after_refresh(lambda: self.files.read(self.session.files_read))
        if not self.is_headless:  # the terminal can go without a signal
            self.set_interval(1, lambda: None if os.isatty(0) else self.exit())

    async def on_resize(self) -> None:
        if self.stage.is_mounted:
            await self.stage.show(self.stage.front, self.spot)
            self.show_command()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The list makes room on a narrow screen; of two views, the one with the focus has the command line."""
        name = self.stage.id_of(event.widget)
        self.screen.set_class(name is not None, "-in-view")
        if name is not None and name in self.stage.shown:
            self.stage.front = name
        self.show_command()

    # where the user is

    @on(OperatorList.Moved, "#operator-list")
    def _cursor_moved(self, message: OperatorList.Moved) -> None:
        """The cursor of the list is at another operator."""
        self.visits.move(VisitedPlace(spot_of(message.target), self.stage.front))
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
        spot, view = spot_of(message.target), self.stage.front_view
        self.visits.move(VisitedPlace(spot, self.stage.front))
        await self.go(spot, self.stage.front if view is None or view.shows(spot) else PANES[0].id)

    async def on_pane_went(self, message: Pane.Went) -> None:
        message.stop()
        await self.go(message.spot, message.pane, message.view)

    async def go(self, spot: Spot, pane: str | None = None, sender: Pane | None = None) -> None:
        """Go to a place. sender: the view that says so, which shows the place already if it stays in front."""
        here = self.visits.here
        if pane is not None and pane in self.stage.entries:
            self.visits.go(VisitedPlace(spot, pane, False))
            await self._arrive()
            return
        same = spot.operator == here.spot.operator and spot.higher_order == here.spot.higher_order
        visit = VisitedPlace(spot, self.stage.front, here.listed)
        (self.visits.move if same else self.visits.go)(visit)
        self._show_in_list(spot)
        if spot != here.spot:
            self.stage.open_all(spot, sender)

    async def _arrive(self) -> None:
        """Show where the user is, after going there or back."""
        visit = self.visits.here
        self._show_in_list(visit.spot)
        await self.stage.show(visit.pane, visit.spot)
        self.show_command()
        if visit.listed:
            self.action_operators()
        else:
            self.stage.focus_on(visit.pane)

    def _show_in_list(self, spot: Spot) -> None:
        number = self.catalogue.number_of(spot)
        if number is not None:
            self.operators.list.show(number)

    async def action_pane(self, pane: str) -> None:
        """Bring a view to the front, and the focus to it."""
        await self.go(self.spot, pane)

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

    # the command line of what is shown

    def on_pane_answered(self, message: Pane.Answered) -> None:
        message.stop()
        self.show_command()

    def show_command(self) -> None:
        """Show the view in front, where it is, and its command line."""
        stage, spot, view = self.stage, self.spot, self.stage.front_view
        self.tabs.show(stage.shown, stage.front)
        name = spot.higher_order if spot.operator is None else str(spot.operator)
        self.crumb.show(stage.entries[stage.front].title, name, spot.key, self.session.title)
        answer = self.answer
        if view is None or (answer is None and view.waits_for):
            self.command_bar.show("", "" if view is None else view.waits_for)
            return
        names_it = answer is not None and self.session.unsaved and self.session.whatif.path in answer.command
        notes = filter(None, (view.remark, TO_SAVE * names_it))
        self.command_bar.show("" if answer is None else command_line(answer), "  ".join(notes))

    def action_copy(self) -> None:
        """Copy the command line of the view in front, by the terminal's own clipboard (OSC 52)."""
        if self.answer is None:
            self.notify("There is no command line to copy.")
            return
        try:
            self.copy_to_clipboard(command_line(self.answer))
        except UnicodeEncodeError:  # a file's name that is not UTF-8
            self.notify("The command line has bytes that are not text.", severity="warning")
        else:
            self.notify("Copied (no clipboard in the terminal? select the text with the mouse)", timeout=COPIED)

    # changes on trial

    async def on_pane_edited(self, message: Pane.Edited) -> None:
        """The state is another one: whatever is shown is made anew."""
        message.stop()
        self.state_changed()

    def state_changed(self) -> None:
        """Make all that is shown anew."""
        self.stage.open_all(self.spot)
        self.operators.marks_changed()
        self.show_command()
        self.refresh_bindings()

    def action_undo(self) -> None:
        """Go back by one change."""
        if self.session.whatif.undo():
            self.state_changed()

    def action_redo(self) -> None:
        """Take back an undo."""
        if self.session.whatif.redo():
            self.state_changed()

    def action_write(self) -> None:
        """Ask for a file, and write the changes to it."""
        from dispatch_cli.explore.views.screens import Ask

        asked = Ask("Write the changes to which file? enter writes, escape leaves", self.session.whatif.path)
        self.push_screen(asked, self._write)

    def _write(self, path: str | None) -> None:
        from dispatch_cli.whatif.written import CannotSave

        if not path:
            return
        try:
            self.session.whatif.write(path)
        except CannotSave as error:
            self.notify(str(error), title="Not written", severity="error")
            return
        self.notify(f"Written: {path}.")
        self.state_changed()  # the places of the changes can be in another file

    async def action_quit(self) -> None:
        """Leave; where changes are not written, only when asked again."""
        if self.session.unsaved and self._asked_to_leave is not self.session.state:
            self._asked_to_leave = self.session.state
            self.notify("The changes are not written: w writes them, q again leaves.", severity="warning")
            return
        await super().action_quit()

    # files

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        """Open a place in the editor; then files are read again that were changed there."""
        from dispatch_cli.explore.editor import CannotOpen, editor_call, run_editor

        message.stop()
        self.files.add(message.span.file)
        try:
            call = editor_call(message.span, os.environ)
            with self.suspend() if call.in_terminal else nullcontext():
                failure = run_editor(call)
        except (CannotOpen, SuspendNotSupported) as why:
            self.notify(str(why), title="Not opened", severity="warning")
            return
        if failure:
            self.notify(failure, severity="warning")
        if self.files.changed():
            self.action_read_again()

    def on_app_focus(self, _: AppFocus) -> None:
        """The user comes back from another window: say which files have changed."""
        if changed := self.files.changed():
            more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            self.notify(f"{changed[0]}{more} changed on disk: f5 reads the files again", severity="warning")

    def action_read_again(self) -> None:
        """Read the files again. Changes on trial stay where they can still be made."""
        from dispatch_cli.explore.switch import change_text
        from dispatch_cli.explore.views.screens import problems_screen

        self.clear_notifications()
        try:
            left_out = self.session.read_again()
        except CannotRead as error:
            if error.problems:
                self.push_screen(problems_screen(error.problems))
            else:
                self.notify(str(error), severity="warning")
            return
        self.files.read(self.session.files_read)
        self.operators.read_again()
        self.state_changed()
        self.notify("The files were read again.")
        if left_out:
            texts = "\n".join(map(change_text, left_out))
            self.notify(
                f"These changes on trial cannot be made any more:\n{texts}", title="Left out", severity="warning"
            )

    # help

    def action_help_quit(self) -> None:
        """textual's, for ctrl+c: how to leave."""
        self.notify("q leaves; ctrl+q does also while typing.")

    def action_help(self) -> None:
        """Show all keys that do something here."""
        from dispatch_cli.explore.help import help_blocks
        from dispatch_cli.explore.views.screens import DocumentScreen

        blocks = help_blocks(self, self.stage.front_view, self.session.trace is not None)
        self.push_screen(DocumentScreen("Help: esc closes", blocks))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:
        """textual's. The views, and what the keys shown below do."""
        for entry in self.stage.entries.values():
            yield SystemCommand(f"View: {entry.title}", f"Key {entry.key}", partial(self.action_pane, entry.id))
        for active in screen.active_bindings.values():
            binding = active.binding
            if active.enabled and binding.show and binding.tooltip:
                run = partial(self.run_action, binding.action, active.node)
                yield SystemCommand(binding.tooltip, f"Key {self.get_key_display(binding)}", run)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)


def run(session: Session) -> int:
    """Explore a state in this terminal until the user leaves; the exit code."""
    app = ExploreApp(session, (SUPPORT if session.original.own_operators() else PANES[0]).id)
    rest_collector()
    app.run()
    return app.return_code or 0


def rest_collector() -> None:
    """Let Python look for garbage among new objects, seldom: among all, it takes as long as several keys."""
    gc.freeze()
    gc.set_threshold(10_000, 20, 100)
    gc.enable()
