"""The application: operators at the left, views, and the command line that prints what is shown."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import DescendantFocus, Resize
from textual.filter import LineFilter, Monochrome, NoColor
from textual.reactive import Reactive
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES
from textual.widget import Widget

from dispatch_cli.explore.files import FilesApp
from dispatch_cli.explore.going import Going, VisitedPlace, Visits
from dispatch_cli.explore.operators.catalogue import spot_of
from dispatch_cli.explore.operators.pane import Operators
from dispatch_cli.explore.panes import PANES, SUPPORT, TRACE
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.trying import TO_SAVE, Trying
from dispatch_cli.explore.views.bars import CommandBar, Crumb, KeyBar, Tabs, command_line, copy_command
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.stage import PaneStage
from dispatch_cli.render.printed import safe_lines

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel


THEMES = sorted(BUILTIN_THEMES)
"""The colours that the application can have."""
WIDE = 150
"""Columns from which table and slot stand beside each other."""
NARROW = 100
"""Columns below which the list of operators makes room for the view that has the focus."""
TINY = 56
"""Columns below which the list has the whole width, as long as no view has the focus."""
_WIDTHS = [(0, "-tiny"), (TINY, "-narrow"), (NARROW, "-middle"), (WIDE, "-wide")]


class ExploreScreen(Screen[None]):
    """The screen. Keys that come before anything else has happened go to the list."""

    AUTO_FOCUS = "OperatorList"
    # textual would paint the whole screen for it; widgets paint themselves where they get the focus and lose it
    focused: Reactive[Widget | None] = Reactive(None, repaint=False)


class ExploreApp(Going, Trying, FilesApp):
    """The explorer of a state."""

    TITLE = "dispatch-cli"
    CSS = """
    #body { height: 1fr; }
    .-short Crumb { display: none; }
    .-tiny Operators { width: 100%; }
    .-narrow Operators { width: 28; }
    .-tiny.-in-view Operators, .-narrow.-in-view Operators { display: none; }
    .-wide Operators { width: 44; }
    .-narrow TablePane > .below { height: 4; }
    ToastRack { margin-bottom: 4; scrollbar-size-vertical: 0; }
    Toast { width: auto; max-width: 100%; padding: 0 1; }
    ExploreApp:nocolor .input--cursor { text-style: reverse; }
    ExploreApp:nocolor .input--placeholder { text-style: dim; }
    """
    HORIZONTAL_BREAKPOINTS = _WIDTHS
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-high")]  # noqa: RUF012  (textual's way)
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
        self.catalogue = self.operators.catalogue
        self.stage = PaneStage(session, id="stage")
        self.front = front
        if session.trace is not None:
            self.front = TRACE.id
            self.bind(TRACE.key, f"pane('{TRACE.id}')", description=TRACE.title, show=False)
        first = self.operators.list.entry
        is_listed = session.trace is None
        self.visits = Visits(VisitedPlace(spot_of(first) if first is not None else Spot(), self.front, is_listed))
        self.tabs, self.crumb = Tabs([*self.stage.entries.values()]), Crumb()
        self.command_bar = CommandBar()

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

    def get_line_filters(self) -> Sequence[LineFilter]:
        """textual's. NO_COLOR leaves the terminal's own colours; textual makes greys, which say little."""
        filters = super().get_line_filters()
        return [*(old for old in filters if not isinstance(old, Monochrome)), NoColor()] if self.no_color else filters

    def get_default_screen(self) -> Screen[Any]:
        return ExploreScreen(id="_default")

    def compose(self) -> ComposeResult:
        self.is_wide = self.size.width >= WIDE
        shown = self.stage.beside(self.front, self.is_wide) if self.front else ()
        self.tabs.show(shown)
        self.stage.begin(shown, self.spot)
        yield self.tabs
        yield self.crumb
        with Horizontal(id="body"):
            yield self.operators
            yield self.stage
        yield self.command_bar
        yield KeyBar()

    def on_mount(self) -> None:
        if not self.visits.here.listed:
            self.call_after_refresh(self.stage.focus_on, self.front)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))  # after ctrl+z and fg
        self.show_command()
        if not self.is_headless:
            self.end_with_the_terminal()

    def end_with_the_terminal(self) -> None:
        """Leave as by a key when the terminal goes, with SIGHUP or without, or when the process is told to end.

        An exception from a signal, amid textual's own end, could leave its thread of input running for ever.
        """
        self.set_interval(1, lambda: None if os.isatty(0) else self.exit())
        for number in [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]:
            if signal.getsignal(number) is not signal.SIG_IGN:
                with suppress(NotImplementedError):  # on Windows
                    asyncio.get_running_loop().add_signal_handler(number, partial(self.exit, return_code=128 + number))

    async def on_resize(self, event: Resize) -> None:
        wide = event.size.width >= WIDE
        if wide != self.is_wide and self.stage.is_mounted:
            self.is_wide = wide
            await self.to_front(self.front)

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """The list makes room on a narrow screen; of two views, the one with the focus has the command line."""
        name = self.stage.id_of(event.widget)
        self.screen.set_class(name is not None, "-in-view")
        if name is not None and name != self.front and name in self.stage.shown:
            self.front = name
        self.show_command()

    # what is shown

    def on_pane_answered(self, message: Pane.Answered) -> None:
        message.stop()
        self.show_command()

    async def on_pane_edited(self, message: Pane.Edited) -> None:
        """The state is another one: whatever is shown is made anew."""
        message.stop()
        self.state_changed()

    def state_changed(self) -> None:
        self.stage.open_all(self.spot)
        self.operators.marks_changed()
        self.show_command()
        self.refresh_bindings()

    def files_read(self, other_keys: bool) -> None:
        self.operators.read_again()
        self.catalogue = self.operators.catalogue
        if other_keys:
            self.call_later(self.stage.renew, self.spot)
        self.state_changed()

    @property
    def answer(self) -> PaneAnswer | None:
        """Answer that the view in front shows."""
        view = self.stage.views.get(self.front)
        return view.answer if isinstance(view, Pane) else None

    def show_command(self) -> None:
        answer, view = self.answer, self.stage.views.get(self.front)
        self.tabs.lead(self.front)
        spot = self.spot
        name = spot.higher_order if spot.operator is None else str(spot.operator)
        self.crumb.show(self.stage.entries[self.front].title, name, spot.key, self.session.title)
        if answer is None and isinstance(view, Pane) and view.waits_for:
            self.command_bar.show("", view.waits_for)
            return
        line = "" if answer is None else command_line(answer)
        notes = [view.remark] if isinstance(view, Pane) and view.remark else []
        names_it = answer is not None and self.session.unsaved and self.session.whatif.path in answer.command
        notes += [TO_SAVE] if names_it else []
        self.command_bar.show(line, "  ".join(notes))

    def action_copy(self) -> None:
        """Copy the command line of the view in front."""
        copy_command(self, self.answer, is_shown=True)

    def action_help_quit(self) -> None:
        """textual's, for ctrl+c: how to leave."""
        self.notify("q leaves; ctrl+q does also while typing.")

    def action_help(self) -> None:
        """Show all keys that do something here."""
        from dispatch_cli.explore.help import help_blocks
        from dispatch_cli.explore.views.screens import DocumentScreen

        view = self.stage.views.get(self.front)
        has_trace = self.session.trace is not None
        blocks = help_blocks(self, view if isinstance(view, Pane) else None, has_trace)
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
