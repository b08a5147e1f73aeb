"""The operators' part of the screen: what is typed, how many there are of each mark, and the list."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from dispatch_cli.explore.background import Background
from dispatch_cli.explore.operators.catalogue import (
    CALLED,
    OWN,
    Catalogue,
    FindingCounts,
    Marked,
    original_findings,
    tried_operators,
)
from dispatch_cli.explore.operators.operator_list import OperatorList
from dispatch_cli.explore.session import TRIED, Session
from dispatch_cli.explore.views.bars import LinkLine

_SIGNS = {Marked.ALL: "all ", Marked.OWN: OWN, Marked.TRIED: TRIED, Marked.FINDINGS: "!", Marked.CALLED: CALLED}
_CHECKED_AFTER = 1.5
"""Seconds after the start at which the checks begin."""


def short_number(number: int) -> str:
    """A number in at most four characters or so: ``8.7k``."""
    if number < 1000:
        return str(number)
    return f"{number / 1000:.1f}k" if number < 9_950 else f"{round(number / 1000):,}k"


class Filters(LinkLine):
    """Line with the number of operators of each mark, the chosen one marked; or with what a search may mean."""

    DEFAULT_CSS = "Filters { padding: 0 1; color: $text-muted; }"

    def __init__(self, catalogue: Catalogue) -> None:
        super().__init__()
        self.catalogue = catalogue
        self.marked = Marked.ALL
        self.checking = True
        self.near = ""

    def on_mount(self) -> None:
        self.show()

    def note_checking(self, checking: bool) -> None:
        """Show whether findings are being looked for."""
        self.checking = checking
        self.show()

    def note_near(self, near: str) -> None:
        """Show which names the list has first, in a few words, if a search finds nothing good; empty if it does."""
        self.near = near
        self.show()

    def show(self) -> None:
        """Show the numbers, or what the search may mean."""
        if self.near:
            self.update(Content.styled(self.near, "$text-warning"), layout=False)
            return
        self.show_links(
            (
                *((f"[{text}]", "bold") if mark is self.marked else (f" {text} ", "")),
                f"app.mark('{mark.name}')",
            )
            for mark, text in self._parts()
        )

    def _parts(self) -> Iterator[tuple[Marked, str]]:
        for mark in self.catalogue.marks:
            names = self.catalogue.names(mark)
            count = len(self.catalogue.entries) if names is None else len(names)
            of_findings = mark is Marked.FINDINGS
            text = "" if of_findings and self.catalogue.findings is None else short_number(count)
            yield mark, f"{_SIGNS[mark]}{text}{'…' if of_findings and self.checking else ''}"


class Operators(Vertical):
    """Search, filter and list."""

    DEFAULT_CSS = """
    Operators { width: 36; border-right: vkey $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "list('move', -1)", "Up", show=False),
        Binding("down", "list('move', 1)", "Down", show=False),
        Binding("pageup", "list('page', -1)", "Page up", show=False),
        Binding("pagedown", "list('page', 1)", "Page down", show=False),
        Binding("escape", "leave", "To the list", show=False),
    ]

    def __init__(
        self,
        session: Session,
        *,
        id: str | None = None,  # noqa: A002  (textual's name)
    ) -> None:
        super().__init__(id=id)
        self.session = session
        self.catalogue = catalogue = self._catalogue()
        self._work = Background(self)
        self.input = Input(placeholder="/ operator", compact=True, select_on_focus=True)
        self.input.cursor_blink = False
        self.filters = Filters(catalogue)
        self.list = OperatorList(catalogue, id="operator-list")
        if session.trace is not None:
            self.filters.marked = Marked.CALLED
            self.list.begin_with(Marked.CALLED)

    def _catalogue(self) -> Catalogue:
        """The operators as they are now."""
        catalogue = Catalogue(self.session.original)
        if self.session.trace is not None:
            from dispatch_cli.explore.panes.trace import called_operators

            catalogue.called = called_operators(self.session.trace)
        return catalogue

    def read_again(self) -> None:
        """The session has another original state; the checks run anew, and until then findings are marked as before."""
        findings, self.catalogue = self.catalogue.findings, self._catalogue()
        self.catalogue.findings = findings
        self.filters.catalogue = self.catalogue
        self.list.renew(self.catalogue)
        self.marks_changed()
        self.filters.show()
        self._check()

    def compose(self) -> ComposeResult:
        yield self.input
        yield self.filters
        yield self.list

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search once the typed text is on the screen."""
        event.stop()
        self.call_after_refresh(self.search)

    def search(self) -> None:
        """Look for what is typed now, if that is not done yet."""
        if self.input.value != self.list.query_text:
            self._search(self.filters.marked)

    def _search(self, marked: Marked) -> None:
        self.list.search(self.input.value, marked)
        self.filters.note_near(self.list.near)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.search()
        self.list.action_open()

    def action_list(self, name: str, number: int) -> None:
        """Move the list's cursor from the input."""
        self.search()
        (self.list.action_move if name == "move" else self.list.action_page)(number)

    def action_leave(self) -> None:
        """Clear the input, and go to the list."""
        self.input.value = ""
        self.list.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """textual's. In the list, its own keys count, and those of the application."""
        return self.input.has_focus if action in ("list", "leave") else super().check_action(action, parameters)

    def on_operator_list_filter_asked(self) -> None:
        order = self.catalogue.marks
        self.filter(order[(order.index(self.filters.marked) + 1) % len(order)])

    def on_mount(self) -> None:
        self.set_timer(_CHECKED_AFTER, self._check)

    def _check(self) -> None:
        """Look for findings, while everything else goes on."""
        self.filters.note_checking(True)
        self._work.start(original_findings(self.session), self._checked, self._not_checked)

    def _checked(self, findings: FindingCounts) -> None:
        self.catalogue.findings = findings
        self.filters.note_checking(False)
        self._repaint()

    def _not_checked(self, error: Exception) -> None:
        self.filters.note_checking(False)
        self.notify(f"{type(error).__name__}: {error}", title="error", severity="error")

    def marks_changed(self) -> None:
        """The state is another one."""
        before, self.catalogue.tried = self.catalogue.tried, tried_operators(self.session)
        if before != self.catalogue.tried:
            self._repaint()

    def _repaint(self) -> None:
        self.filters.show()
        self.list.marks_changed()
        self.filters.note_near(self.list.near)

    def filter(self, marked: Marked) -> None:
        """List only operators that are so marked."""
        self.filters.marked = marked
        self.filters.show()
        self._search(marked)
