"""Documents as widgets: the one writer of `render.document` blocks for a terminal application.

`Blocks` shows a whole document, `Rows` a table of any number of rows, one line each. In both, the parts that can be
opened are gone through with the arrows, and opened with enter or a click.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dispatch_cli.explore.line_looks import MARK
from dispatch_cli.explore.lines_view import LinesView, Openable
from dispatch_cli.render.document import Block, TableBlock
from dispatch_cli.render.text import parts_of
from dispatch_cli.render.text_lines import TextLine, line_width
from dispatch_cli.render.text_list import ListLayout, list_layout


class Blocks(LinesView):
    """A document.

    It is given as blocks, or as a function that makes them for a width. opens: says of a row of a table, of a fact and
    of a paragraph what it opens; None where that is nothing.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._make: Callable[[int], Iterable[Block]] = lambda _: ()
        self._opens: Callable[[Any], Any] = _nothing
        self._lines: list[TextLine] = []
        self._choices: list[Openable] = []
        self._of_line: list[int | None] = []

    def show(
        self,
        blocks: Iterable[Block] | Callable[[int], Iterable[Block]],
        opens: Callable[[Any], Any] | None = None,
        keep: bool = False,
    ) -> None:
        """Show a document. keep: the cursor stays where it is."""
        if callable(blocks):
            self._make = blocks
        else:
            whole = tuple(blocks)
            self._make = lambda _: whole
        self._opens = opens or _nothing
        self.again(keep)

    def lay_out(self, width: int) -> None:
        """Make the lines for a width."""
        self._lines, self._choices, self._of_line = [], [], []
        for block in self._make(width):
            for item, lines in self.parts(block, width):
                target = None if item is None else self._opens(item)
                number = None
                if target is not None and lines:
                    number = len(self._choices)
                    self._choices.append(Openable(len(self._lines), len(self._lines) + len(lines), target))
                self._lines += lines
                self._of_line += [number] * len(lines)

    def parts(self, block: Block, width: int) -> Sequence[tuple[Any, list[TextLine]]]:
        """The lines of a block, with what they show."""
        return parts_of(block, width)

    def line_count(self) -> int:
        """Number of lines."""
        return len(self._lines)

    def line_at(self, number: int) -> TextLine:
        """One of them."""
        return self._lines[number]

    def widest(self) -> int:
        """The width of the widest line."""
        return max(map(line_width, self._lines), default=0) + len(MARK[0])

    def choices(self) -> int:
        """Number of parts that can be opened."""
        return len(self._choices)

    def choice(self, number: int) -> Openable:
        """One of them."""
        return self._choices[number]

    def choice_of_line(self, line: int) -> int | None:
        """The number of the choice that a line belongs to."""
        return self._of_line[line] if line < len(self._of_line) else None

    @property
    def text(self) -> str:
        """Shown lines as plain text."""
        return _plain(self._lines)


_KEPT = 2_000
"""Lines that are kept, so that they are not made anew whenever they are painted."""


def _nothing(_: Any) -> None:
    return None


class Rows(LinesView):
    """A table of any number of rows, one line each; each row can be opened, which gives the row itself."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._table: TableBlock[Any] = TableBlock((), ())
        self._layout: ListLayout | None = None
        self._made: dict[int, TextLine] = {}

    def show(self, table: TableBlock[Any], keep: bool = False) -> None:
        """Show a table. keep: the cursor stays on the row of that number."""
        self._table = table
        self._made.clear()
        self.again(keep)

    @property
    def rows(self) -> Sequence[Any]:
        """The rows that are shown."""
        return self._table.rows

    def lay_out(self, width: int) -> None:
        """Choose the columns for a width."""
        self._made.clear()
        self._layout = list_layout(self._table, width) if self._table.columns else None

    def line_count(self) -> int:
        """Number of lines."""
        return 0 if self._layout is None else len(self._table.rows)

    def line_at(self, number: int) -> TextLine:
        """One of them."""
        layout = self._layout
        assert layout is not None, "there is a line"
        line = self._made.get(number)
        if line is None:
            if len(self._made) > _KEPT:
                self._made.clear()
            line = self._made[number] = layout.line(self._table.rows[number])
        return line

    def choices(self) -> int:
        """Number of parts that can be opened."""
        return self.line_count()

    def choice(self, number: int) -> Openable:
        """One of them."""
        return Openable(number, number + 1, self._table.rows[number])

    def choice_of_line(self, line: int) -> int | None:
        """The number of the choice that a line belongs to."""
        return line if 0 <= line < self.line_count() else None

    def top_lines(self) -> Sequence[TextLine]:
        """The headers."""
        return () if self._layout is None else (self._layout.header(),)

    @property
    def text(self) -> str:
        """Shown lines as plain text."""
        return _plain([*self.top_lines(), *map(self.line_at, range(self.line_count()))])


def _plain(lines: Iterable[TextLine]) -> str:
    return "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)
