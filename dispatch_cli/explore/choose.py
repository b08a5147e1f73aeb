"""A list from which one thing is chosen, found by typing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from dispatch_cli.explore.blocks import Rows
from dispatch_cli.explore.contained import Contained
from dispatch_cli.explore.lines_view import LinesView
from dispatch_cli.explore.text_input import TextInput
from dispatch_cli.render.document import TableBlock, runs_of
from dispatch_cli.render.text_safety import safe


class Choose(Contained, ModalScreen[Any]):
    """Which row of a table is meant; its result is the row, or None.

    table: its first column is what is typed to find a row.
    """

    DEFAULT_CSS = """
    Choose { align: center middle; background: $background 60%; }
    Choose > Vertical { width: 80%; max-width: 90; height: 80%; border: round $primary; background: $surface; }
    Choose Static { height: 1; padding: 0 1; text-style: bold; }
    Choose TextInput { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "Leave"),
        Binding("down", "move(1)", "Down", show=False, priority=True),
        Binding("up", "move(-1)", "Up", show=False, priority=True),
        Binding("enter", "take", "Choose", priority=True),
    ]

    def __init__(self, title: str, table: TableBlock[Any], now: Any = None) -> None:
        super().__init__()
        self._title = title
        self._table = table
        self._now = now
        self.list = Rows()

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(safe(self._title), markup=False)
            yield TextInput(placeholder="type to find, enter to choose, escape to leave")
            yield self.list

    def on_mount(self) -> None:
        rows = self._table.rows
        self.list.show(self._table)
        self.call_after_refresh(self.list.move_to, rows.index(self._now) if self._now in rows else 0)

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        wanted = event.value.lower().split()
        rows: Sequence[Any] = self._table.rows
        found = [row for row in rows if all(one in self._text(row) for one in wanted)]
        found.sort(key=lambda row: self._text(row) != event.value.lower())
        self.list.show(TableBlock(self._table.columns, found))

    def _text(self, row: Any) -> str:
        return "".join(run.text for run in runs_of(self._table.columns[0].cell(row, False))).lower()

    @on(LinesView.Opened)
    def _opened(self, event: LinesView.Opened) -> None:
        event.stop()
        self.dismiss(event.target)

    def action_move(self, by: int) -> None:
        """Another row."""
        self.list.action_move(by)

    def action_take(self) -> None:
        """The row under the cursor."""
        self.dismiss(self.list.target)

    def action_leave(self) -> None:
        """Nothing."""
        self.dismiss(None)
