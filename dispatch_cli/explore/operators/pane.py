"""The operators' part of the screen: what is typed, how many there are of each mark, and the list."""

from __future__ import annotations

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
    tried_operators,
)
from dispatch_cli.explore.operators.fuzzy import MAX_QUERY
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

    def show(self, catalogue: Catalogue, marked: Marked, checking: bool) -> None:
        """Show the numbers. checking: findings are being looked for."""
        links = []
        for mark in catalogue.marks:
            names, of_findings = catalogue.names(mark), mark is Marked.FINDINGS
            count = short_number(len(catalogue.entries) if names is None else len(names))
            text = "" if of_findings and catalogue.findings is None else count
            text = f"{_SIGNS[mark]}{text}{'…' if of_findings and checking else ''}"
            style = "bold" if mark is marked else ""
            links.append((f"[{text}]" if style else f" {text} ", style, f"app.mark('{mark.name}')"))
        self.show_links(links)


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
        Binding("f", "filter", "Filter", tooltip="Filter the list: the next of the marks above it"),
    ]

    def __init__(
        self,
        session: Session,
        *,
        id: str | None = None,  # noqa: A002  (textual's name)
    ) -> None:
        super().__init__(id=id)
        self.session = session
        self.catalogue = self._catalogue()
        self._work = Background(self)
        self.input = Input(placeholder="/ operator", compact=True, select_on_focus=True, max_length=MAX_QUERY)
        self.input.cursor_blink = False
        self.filters = Filters()
        marked = Marked.ALL if session.trace is None else Marked.CALLED
        self.list = OperatorList(self.catalogue, marked, id="operator-list")
        self._checking = True

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
        self.list.renew(self.catalogue)
        self.marks_changed()
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
            self.filter(self.list.marked)

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

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        """textual's. In the list, its own keys count, and those of the application; f is a letter where one types."""
        return self.input.has_focus is (action in ("list", "leave"))

    def action_filter(self) -> None:
        """List the operators of the next mark."""
        order = self.catalogue.marks
        self.filter(order[(order.index(self.list.marked) + 1) % len(order)])

    def on_mount(self) -> None:
        self._show_filters()
        self.set_timer(_CHECKED_AFTER, self._check)

    def _check(self) -> None:
        """Look for findings, while everything else goes on."""
        self._checking = True
        self._show_filters()
        from dispatch_cli.explore.answers.findings import findings_search

        search = findings_search(self.session, original=True)
        self._work.start(lambda step: search(lambda *_: step("")).report.affected, self._checked, self._not_checked)

    def _checked(self, findings: FindingCounts) -> None:
        self.catalogue.findings, self._checking = findings, False
        self._repaint()

    def _not_checked(self, error: Exception) -> None:
        self._checking = False
        self._show_filters()
        self.notify(f"{type(error).__name__}: {error}", title="error", severity="error")

    def marks_changed(self) -> None:
        """The state is another one."""
        before, self.catalogue.tried = self.catalogue.tried, tried_operators(self.session)
        if before != self.catalogue.tried:
            self._repaint()

    def _repaint(self) -> None:
        self.list.marks_changed()
        self._show_filters()

    def filter(self, marked: Marked) -> None:
        """List only operators that are so marked, of those that are searched for."""
        self.list.search(self.input.value, marked)
        self._show_filters()

    def _show_filters(self) -> None:
        """Show what can be listed; where a search finds nothing good, what the list has first instead."""
        if self.list.near:
            self.filters.update(Content.styled(self.list.near, "$text-warning"), layout=False)
        else:
            self.filters.show(self.catalogue, self.list.marked, self._checking)
