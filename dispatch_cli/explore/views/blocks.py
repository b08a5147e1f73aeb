"""Documents as a widget: the one writer of `render.document` blocks for a terminal application.

The parts that can be opened are gone through with the arrows, and opened with enter or a click.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from dispatch_cli.explore.views.lines_view import Choice, LinesView
from dispatch_cli.render.document import Block, Matrix, MatrixCell, TableBlock
from dispatch_cli.render.text import ListLayout, list_layout, parts_of
from dispatch_cli.render.text_lines import TextLine, line_width
from dispatch_cli.render.text_matrix import TextMatrix

LEAST_WIDTH = 20
"""Columns for which lines are laid out; in a view with fewer they are cut."""
MANY = 500
"""Rows from which a table has a line for each, which is made when it is looked at."""


class Blocks(LinesView):
    """A document.

    opens: says of a row of a table, of a fact, of a paragraph and of a cell of a matrix what it opens; None where that
    is nothing. lists: the columns of tables whose rows are not wrapped, but cut; None for those of all tables.
    """

    class LaidOut(LinesView.Moved):
        """There are other parts now: what is under the cursor can be another one."""

    def __init__(
        self,
        *,
        id: str | None = None,  # noqa: A002  (textual's name)
        classes: str | None = None,
        lists: Sequence[object] | None = (),
    ) -> None:
        super().__init__(id=id, classes=classes)
        self._lists = lists
        self._blocks: tuple[Block, ...] = ()
        self._opens: Callable[[Any], Any] = _nothing
        self._wanted: Callable[[Any], bool] | None = None
        self._lines: list[TextLine | _ListRow] = []
        self._choices: list[Choice] = []
        self._of_line: dict[int, list[int]] = {}

    def show(
        self,
        blocks: Iterable[Block],
        opens: Callable[[Any], Any] | None = None,
        keep: bool = False,
        at: Callable[[Any], bool] | None = None,
    ) -> None:
        """Show a document. keep: the cursor stays where it is. at: as of `point`."""
        self._blocks = tuple(blocks)
        self._opens = opens or _nothing
        self._wanted = at
        self.again(keep)

    def point(self, wanted: Callable[[Any], bool]) -> None:
        """Put the cursor on the first part with such a target, if there is one and the cursor is on no other such."""
        self._wanted = wanted
        if (number := self._number()) != self._cursor:
            with self.prevent(self.Moved):
                self.move_to(number)
            self._wanted = wanted

    def _number(self) -> int:
        """The number of the wanted part, else of the one under the cursor."""
        wanted = self._wanted
        if wanted is None or (self._cursor < len(self._choices) and wanted(self._choices[self._cursor].target)):
            return self._cursor
        return next((number for number, choice in enumerate(self._choices) if wanted(choice.target)), self._cursor)

    def move_to(self, number: int) -> None:
        if number != self._cursor:
            self._wanted = None
        super().move_to(number)

    def again(self, keep: bool = False) -> None:
        if not keep:
            self._cursor = 0
        with self.prevent(self.Moved):
            super().again(keep or self._wanted is not None)

    def lay_out(self, width: int) -> None:
        """Make the lines for a width."""
        self._lines, self._choices, self._of_line = [], [], {}
        for block in self._blocks:
            if isinstance(block, Matrix):
                self._add_matrix(block, width)
                continue
            if isinstance(block, TableBlock) and len(block.rows) > MANY:
                self._add_list(block, width)
                continue
            for item, lines in parts_of(block, max(LEAST_WIDTH, width), cuts=self._is_list(block)):
                first = len(self._lines)
                self._lines += lines
                if item is not None and lines:
                    self._add(item, first, len(self._lines))
        self._cursor = self._number()
        self.post_message(self.LaidOut(self, self.target))

    def _is_list(self, block: Block) -> bool:
        if not isinstance(block, TableBlock):
            return False
        return self._lists is None or any(block.columns is columns for columns in self._lists)

    def _add_matrix(self, matrix: Matrix, width: int) -> None:
        laid_out, top = TextMatrix(matrix, width), len(self._lines)
        for block in laid_out.blocks():
            self._lines += (line for part in parts_of(block, width) for line in part.lines)
        for cell, line, x, cell_width in laid_out.cells:
            self._add(cell, top + line, top + line + 1, x, cell_width)

    def _add_list(self, table: TableBlock[Any], width: int) -> None:
        """Add a row as one line. Some of the rows decide how wide the columns are."""
        some = table.rows[:: len(table.rows) // MANY]
        layout = list_layout(TableBlock(table.columns, some), max(LEAST_WIDTH, width))
        self._lines.append(layout.header())
        for row in table.rows:
            self._add(row, len(self._lines), len(self._lines) + 1)
            self._lines.append(_ListRow(layout, row))

    def _add(self, item: Any, first: int, end: int, x: int = 0, width: int = 0) -> None:
        """Note a part, if it can be opened."""
        if (target := self._opens(item)) is not None:
            for line in range(first, end):
                self._of_line.setdefault(line, []).append(len(self._choices))
            self._choices.append(Choice(first, end, target, x, width))

    def line_count(self) -> int:
        return len(self._lines)

    def line_at(self, number: int) -> TextLine:
        line = self._lines[number]
        if isinstance(line, _ListRow):
            line = self._lines[number] = line.layout.line(line.row)
        return line

    def widest(self) -> int:
        lines = (line for line in self._lines if not isinstance(line, _ListRow))
        return max(map(line_width, lines), default=0) + len(self.MARKS[1])

    def choices(self) -> int:
        return len(self._choices)

    def choice(self, number: int) -> Choice:
        return self._choices[number]

    def choices_of_line(self, line: int) -> Sequence[int]:
        return self._of_line.get(line, ())

    @property
    def text(self) -> str:
        """Shown lines as plain text."""
        lines = map(self.line_at, range(self.line_count()))
        return "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)


class _ListRow(NamedTuple):
    """A row of a table of many, whose line is not made yet."""

    layout: ListLayout
    row: Any


def _nothing(_: Any) -> None:
    return None


def open_cell(item: object) -> MatrixCell | None:
    """Target of a part of a picture: a cell itself, if it has a target."""
    return item if isinstance(item, MatrixCell) and item.target is not None else None
