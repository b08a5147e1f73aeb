"""The application: operators at the left, views, and the command line that prints what is shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App, ComposeResult, SuspendNotSupported, SystemCommand, get_system_commands_provider
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import DescendantFocus, Event, Key, Resize
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input
from textual.worker import WorkerFailed

from dispatch_cli.explore.bars import CommandBar, KeyBar, Tabs, command_line, copy_command
from dispatch_cli.explore.catalogue import spot_of
from dispatch_cli.explore.contained import Contained
from dispatch_cli.explore.following import Following
from dispatch_cli.explore.operator_list import OperatorList
from dispatch_cli.explore.operators import Operators
from dispatch_cli.explore.pane import Pane
from dispatch_cli.explore.panes import PANES, TRACE
from dispatch_cli.explore.reading import ReadingAgain
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.stage import FailedView, PaneStage, error_line
from dispatch_cli.explore.tidying import Tidying
from dispatch_cli.explore.trying import TO_SAVE, Trying
from dispatch_cli.explore.visits import VisitedPlace, Visits
from dispatch_cli.render.text_safety import safe_lines
from dispatch_cli.report.operator_list import ListedOperator

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.notifications import SeverityLevel

WIDE = 150
"""Columns from which table and slot stand beside each other."""
NARROW = 100
"""Columns below which the list of operators makes room for the view that has the focus."""
_SOON = 0.06
"""Seconds for which a cursor that moves quickly has to rest until the views follow it."""
_MOST_FAILURES = 50
"""Errors after which the program ends: it would not get further."""


def _own_commands() -> type[Provider]:
    from dispatch_cli.explore.palette import ExploreCommands

    return ExploreCommands


class ExploreScreen(Contained, Screen[None]):
    """The screen. Keys that come before anything else has happened go to the list."""

    AUTO_FOCUS = "OperatorList"


class ExploreApp(Trying, ReadingAgain, Tidying, Contained, App[None]):
    """The explorer of a state."""

    TITLE = "dispatch-cli"
    CSS = """
    #body { height: 1fr; }
    .-narrow Operators { width: 28; }
    .-narrow.-in-view Operators { display: none; }
    .-wide Operators { width: 44; }
    ToastRack { margin-bottom: 4; }
    """
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-middle"), (WIDE, "-wide")]  # noqa: RUF012  (textual's way)
    COMMANDS = {get_system_commands_provider, _own_commands}  # noqa: RUF012  (textual's way)
    BINDINGS: ClassVar[list[BindingType]] = [
        # done before the next key is looked at, which can be there already
        Binding("slash", "search", "Search", tooltip="Search operators: type a part of a name", priority=True),
        *(Binding(entry.key, f"pane('{entry.id}')", entry.title, show=False) for entry in PANES),
        Binding("o", "operators", "To the list of operators", show=False),
        Binding("escape", "back", "Back to where you were before", show=False),
        Binding("backspace,alt+left", "back", "Back to where you were before", show=False),
        Binding("alt+right", "forward", "Forward again, after going back", show=False),
        Binding("y", "copy", "Copy command", tooltip="Copy the command line at the bottom"),
        Binding("ctrl+z", "suspend_process", "Suspend the program: fg in the shell continues it", show=False),
        Binding("question_mark", "help", "Help", key_display="?", tooltip="Help: keys and marks of the view in front"),
        Binding("q", "quit", "Quit", tooltip="Quit the program"),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.session = session
        self.failures: list[BaseException] = []
        self.operators = Operators(session, self._cursor_moved, id="operators")
        self.catalogue = self.operators.catalogue
        self.stage = PaneStage(session, id="stage")
        self.front = PANES[0].id
        if session.trace is not None:
            self.front = TRACE.id
            self.bind(TRACE.key, f"pane('{TRACE.id}')", description=TRACE.title, show=False)
        first = self.operators.list.entry
        is_listed = session.trace is None
        self.visits = Visits(VisitedPlace(spot_of(first) if first is not None else Spot(), self.front, is_listed))
        self.tabs = Tabs([*self.stage.entries.values()], title_of(session))
        self.command_bar = CommandBar()
        self._following = Following(self, _SOON, self._follow)
        self._asked_to_leave = False
        self._is_wide = False

    @property
    def spot(self) -> Spot:
        """Where the user is."""
        return self.visits.here.spot

    def get_default_screen(self) -> Screen[Any]:
        return ExploreScreen(id="_default")

    def compose(self) -> ComposeResult:
        self._is_wide = self.size.width >= WIDE
        shown = self.stage.beside(self.front, self._is_wide) if self.front else ()
        self.tabs.show(shown)
        self.stage.begin(shown, self.spot)
        yield self.tabs
        with Horizontal(id="body"):
            yield self.operators
            yield self.stage
        yield self.command_bar
        yield KeyBar()

    def on_mount(self) -> None:
        if not self.visits.here.listed:
            self.call_after_refresh(self.stage.focus_on, self.front)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))  # after ctrl+z and fg
        self._show_command()

    async def on_resize(self, event: Resize) -> None:
        wide = event.size.width >= WIDE
        if wide != self._is_wide and self.stage.is_mounted:
            self._is_wide = wide
            await self._to_front(self.front)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The list makes room on a narrow screen; of two views, the one with the focus has the command line."""
        name = self.stage.id_of(event.widget)
        self.screen.set_class(name is not None, "-in-view")
        if name is not None and name != self.front and name in self.stage.shown:
            self.front = name
        self._show_command()

    # where the user goes

    def _cursor_moved(self, entry: ListedOperator) -> None:
        self.visits.move(VisitedPlace(spot_of(entry), self.front))
        self._following.moved()

    def _follow(self) -> None:
        """Show the operator under the cursor. Whatever that changes is in one frame."""
        self.stage.open_all(self.spot)
        self._show_command()

    async def on_operator_list_operator_opened(self, message: OperatorList.OperatorOpened) -> None:
        self.visits.move(VisitedPlace(spot_of(message.entry), self.front))
        self.visits.go(VisitedPlace(spot_of(message.entry), self.front, False))
        await self._arrive()

    async def on_pane_went(self, message: Pane.Went) -> None:
        message.stop()
        sender = message._sender if isinstance(message._sender, Pane) else None
        await self.go(message.spot, message.pane, sender)

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
        """Show where the user is, after going there, back or forward."""
        visit = self.visits.here
        self._show_in_list(visit.spot)
        shown = self.stage.shown
        await self._to_front(visit.pane)
        for name in self.stage.shown:
            if name in shown:
                self.stage.open(name, visit.spot)
        if visit.listed:
            self.action_operators()
        else:
            self.call_after_refresh(self.stage.focus_on, visit.pane)

    async def _to_front(self, pane: str) -> None:
        if pane not in self.stage.entries:
            return
        self.front = pane
        shown = self.stage.beside(pane, self._is_wide)
        self.tabs.show(shown)
        await self.stage.show(shown, self.spot)
        self._show_command()

    def _show_in_list(self, spot: Spot) -> None:
        number = self.catalogue.number_of(spot)
        if number is not None:
            self.operators.list.show(number)

    async def on_tabs_tab_picked(self, message: Tabs.TabPicked) -> None:
        await self.action_pane(message.pane)

    async def action_pane(self, pane: str) -> None:
        """Bring a view to the front, and the focus to it."""
        if pane in self.stage.entries:
            self.visits.go(VisitedPlace(self.spot, pane, False))
            await self._to_front(pane)
            self.stage.focus_on(pane)

    async def action_back(self) -> None:
        if self.visits.back() is not None:
            await self._arrive()
        else:
            self.action_operators()

    async def action_forward(self) -> None:
        if self.visits.forward() is not None:
            await self._arrive()

    def action_operators(self) -> None:
        self.screen.remove_class("-in-view")
        self.call_after_refresh(self.operators.list.focus)

    def action_search(self) -> None:
        self.screen.remove_class("-in-view")
        self.screen.set_focus(self.operators.input)

    def on_operator_input_left(self) -> None:
        self.action_operators()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's. Where a text is typed, the key of the search is a letter."""
        if action == "search" and (isinstance(self.focused, Input) or isinstance(self.screen, ModalScreen)):
            return False
        return super().check_action(action, parameters)

    # what is shown

    def on_pane_answered(self, message: Pane.Answered) -> None:
        message.stop()
        self._show_command()

    async def on_pane_edited(self, message: Pane.Edited) -> None:
        """The state is another one: whatever is shown is made anew."""
        message.stop()
        self.state_changed()

    def state_changed(self) -> None:
        self._asked_to_leave = False
        self.stage.open_all(self.spot)
        self.operators.marks_changed()
        self._show_command()
        self.refresh_bindings()

    def files_read(self, other_keys: bool) -> None:
        self.operators.read_again()
        self.catalogue = self.operators.catalogue
        self.tabs.name_session(title_of(self.session))
        if other_keys:
            self.call_later(self.stage.renew, self.spot)
        self.state_changed()

    async def on_failed_view_again(self, message: FailedView.Again) -> None:
        await self.stage.again(message.view, self.spot)

    @property
    def answer(self) -> PaneAnswer | None:
        """What the view in front shows."""
        view = self.stage.views.get(self.front)
        return view.answer if isinstance(view, Pane) else None

    def _show_command(self) -> None:
        answer, view = self.answer, self.stage.views.get(self.front)
        if answer is not None and answer.why_not:
            self.command_bar.show("", answer.why_not)
            return
        line = "" if answer is None else command_line(answer)
        notes = [view.apart] if isinstance(view, Pane) and view.apart else []
        notes += [TO_SAVE] if line and self.session.unsaved else []
        self.command_bar.show(line, "  ".join(notes))

    def saved(self) -> None:
        self._show_command()

    def action_copy(self) -> None:
        """Copy the command line of the view in front."""
        copy_command(self, self.answer)

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,  # noqa: ARG002  (what a widget says if it is not asked)
    ) -> None:
        """textual's. Names and texts of files can be in any message: it is never markup, and safe to print."""
        super().notify(safe_lines(message), title=title, severity=severity, timeout=timeout, markup=False)

    def action_help_quit(self) -> None:
        """textual's, for ctrl+c: how to leave."""
        self.notify("q leaves; ctrl+q does also while typing.")

    async def on_event(self, event: Event) -> None:
        """textual's. Another key takes back the wish to leave."""
        if isinstance(event, Key) and event.key != "q":
            self._asked_to_leave = False
        await super().on_event(event)

    async def action_quit(self) -> None:
        """Leave; where changes are not written, only when asked again."""
        if self.session.unsaved and not self._asked_to_leave:
            self._asked_to_leave = True
            self.notify("The changes are not written: w writes them, q again leaves.", severity="warning")
            return
        await super().action_quit()

    def action_help(self) -> None:
        """Show all keys that do something here."""
        from dispatch_cli.explore.help import HelpScreen, sections_of

        view = self.stage.views.get(self.front)
        has_trace = self.session.trace is not None
        self.push_screen(HelpScreen(sections_of(self, view if isinstance(view, Pane) else None, has_trace)))

    def get_system_commands(self, screen: Screen[Any]) -> Iterator[SystemCommand]:  # noqa: ARG002  (textual's)
        yield SystemCommand("Theme", "Change the colours", self.action_change_theme)

    def on_pane_open_place(self, message: Pane.OpenPlace) -> None:
        """Open a place in the editor."""
        from dispatch_cli.explore.editor import CannotOpen, editor_call, run_editor

        message.stop()
        self.note_files((message.span.file,))
        try:
            call = editor_call(message.span, os.environ)
            code = self._lend_screen(partial(run_editor, call)) if call.in_terminal else run_editor(call)
        except (CannotOpen, SuspendNotSupported) as why:
            self.notify(str(why), title="No editor", severity="warning")
            return
        self.read_if_changed()
        if code:
            self.notify(f"The editor ended with code {code}.", severity="warning")

    def _lend_screen(self, run: Callable[[], int]) -> int:
        """Run what takes the whole terminal. textual takes the screen back only where nothing is raised meanwhile."""
        error: Exception | None = None
        code = 0
        with self.suspend():
            try:
                code = run()
            except Exception as why:
                error = why
        if error is not None:
            raise error
        return code

    # what fails

    def failed(self, error: BaseException, where: object = None) -> None:
        """An error that is shown, in the view where it happened if it happened in one; the program goes on."""
        self.failures.append(error)
        if len(self.failures) > _MOST_FAILURES:
            super()._handle_exception(error if isinstance(error, Exception) else Exception(str(error)))
            return
        if isinstance(error, WorkerFailed):
            error = error.error
        widget = where if isinstance(where, Widget) else None
        if widget is None or not self.stage.is_attached or not self.stage.fail(widget, error):
            self.notify(error_line(error), title="error", severity="error")

    def _handle_exception(self, error: Exception) -> None:
        """textual's: what was not contained where it happened. It would end the program."""
        if not self.is_running or not self.screen_stack:
            super()._handle_exception(error)
        else:
            self.failed(error, _widget_of(error, self.stage))


def _widget_of(error: BaseException, stage: PaneStage) -> Widget | None:
    """The innermost widget of a view in whose code an error happened."""
    found, step = None, error.__traceback__
    while step is not None:
        widget = step.tb_frame.f_locals.get("self")
        if isinstance(widget, Widget) and widget.is_attached and stage.id_of(widget) is not None:
            found = widget
        step = step.tb_next
    if found is None and isinstance(error, WorkerFailed):
        return _widget_of(error.error, stage)
    return found


def title_of(session: Session) -> str:
    """What is explored, in a few words: the embedded state, and the files over it."""
    state, files = session.original, session.files
    if state.over:
        return " + ".join((", ".join(state.over), *files))
    universe = state.dispatcher.universe.name
    return f"{' + '.join(files)} (keys of {universe})" if files else universe


def themes() -> list[str]:
    """The names of the themes."""
    from textual.theme import BUILTIN_THEMES

    return sorted(BUILTIN_THEMES)


def run(session: Session, theme: str | None = None) -> int:
    """Explore a state in this terminal until the user leaves; the exit code."""
    app = ExploreApp(session)
    app.own_process = True
    if theme is not None:
        app.theme = theme
    app.run()
    return app.return_code or 0
