"""Screens in front of the views: a document, a question whose answer is typed, and a list to choose from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from dispatch_cli.explore.views.blocks import Blocks
from dispatch_cli.explore.views.lines_view import LinesView
from dispatch_cli.model.problem import Problem
from dispatch_cli.render.document import Block, Paragraph, TableBlock, runs_of
from dispatch_cli.render.printed import safe
from dispatch_cli.render.problems import problems


class DocumentScreen(ModalScreen[None]):
    """A document in a box."""

    DEFAULT_CSS = """
    DocumentScreen { align: center middle; background: $background 60%; }
    DocumentScreen > Vertical {
        width: 90%; max-width: 100; height: 90%; padding: 0 1; border: round $primary; background: $surface;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark", "dismiss", "Close")]

    def __init__(self, title: str, blocks: Iterable[Block]) -> None:
        super().__init__()
        self._title, self._blocks = title, tuple(blocks)

    def compose(self) -> ComposeResult:
        with Vertical() as box:
            box.border_title = self._title
            yield Blocks()

    def on_mount(self) -> None:
        self.query_one(Blocks).show(self._blocks)
        self.query_one(Blocks).focus()


def problems_screen(listed: Sequence[Problem]) -> DocumentScreen:
    """Screen of the problems in files that cannot be read again, each with its place."""
    return DocumentScreen("The files cannot be read: esc closes; what was read before is still shown", problems(listed))


class Ask(ModalScreen["str | None"]):
    """A question; its result is what is typed, or None where it is left. first: what is there to begin with."""

    DEFAULT_CSS = """
    Ask { align: center middle; background: $background 60%; }
    Ask > Vertical { width: 80%; max-width: 70; height: auto; border: round $primary; background: $surface; }
    Ask Static { padding: 0 1; text-style: bold; }
    Ask Input { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave")]

    def __init__(self, question: str, first: str) -> None:
        super().__init__()
        self._question, self._first = question, first

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield Input(self._first, compact=True)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip())


class Choose(ModalScreen[Any]):
    """Choice of a row of a table; its result is the row, or None.

    table: its first column is what is typed to find a row.
    """

    DEFAULT_CSS = """
    Choose { align: center middle; background: $background 60%; }
    Choose > Vertical { width: 80%; max-width: 90; height: 80%; border: round $primary; background: $surface; }
    Choose Static { height: 1; padding: 0 1; text-style: bold; }
    Choose Input { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", "Leave"),
        Binding("down", "move(1)", "Down", show=False),
        Binding("up", "move(-1)", "Up", show=False),
        Binding("enter", "take", "Choose"),
    ]

    def __init__(self, title: str, table: TableBlock[Any], now: Any = None) -> None:
        super().__init__()
        self._title = title
        self._table = table
        self._now = now
        self.list = Blocks(lists=None)

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._title), markup=False)
            yield Input(placeholder="type to find; enter chooses, escape leaves", compact=True)
            yield self.list

    def on_mount(self) -> None:
        self.list.show([self._table], _itself, at=lambda row: bool(row == self._now))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        wanted = event.value.lower().split()
        rows: Sequence[Any] = self._table.rows
        matches = [row for row in rows if all(word in self._text(row) for word in wanted)]
        matches.sort(key=lambda row: self._text(row) != event.value.lower())
        if matches:
            self.list.show([TableBlock(self._table.columns, matches)], _itself)
        else:
            self.list.show([Paragraph(f"There is no {event.value.strip()!r} here.")])

    def _text(self, row: Any) -> str:
        """The text of the first cell of a row."""
        return "".join(run.text for run in runs_of(self._table.columns[0].cell(row, False))).lower()

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_take()

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.dismiss(event.target)

    def action_move(self, by: int) -> None:
        """Another row."""
        self.list.action_move(by)

    def action_take(self) -> None:
        """Take the row under the cursor; if there is none, say why."""
        if self.list.target is not None:
            self.dismiss(self.list.target)


def _itself(row: Any) -> Any:
    return row
