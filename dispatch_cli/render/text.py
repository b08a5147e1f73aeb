"""Documents as text for a terminal or a pipe: blocks as lines of a width, which the writer alone knows.

Lines that have no room are broken, or cut where each row is to be one line. Rich is imported only for colours. These
are the writer's alone: what comes from outside can change neither them nor the terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any, NamedTuple

from dispatch_cli.render.document import (
    HEADS,
    UNDER,
    Block,
    Column,
    Excerpt,
    Fact,
    Facts,
    Gap,
    Matrix,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    ShownCells,
    TableBlock,
    Tone,
    cells_of,
    joined,
    runs_of,
    stackable,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_lines import GAP, TextLine, beside, blanks, line_width, marked_line, shown_lines, width_of

LOOKS = {
    Tone.PLAIN: "none",
    Tone.HEAD: "bold",
    Tone.KERNEL: "bold green",
    Tone.ALIAS: "cyan",
    Tone.FALLBACK: "blue",
    Tone.WARN: "yellow",
    Tone.BAD: "bold red",
    Tone.DIM: "dim",
    Tone.PLACE: "dim",
}
"""Looks of the tones, in rich's words."""
UNLIMITED = sys.maxsize
"""Width of a pipe."""
LEAST = 8
"""Columns that a cell that is broken or cut has at least; with less a row is no row."""
MIN_BROKEN = 18
"""Columns that a cell that is broken should have; with less, names are broken, too."""
MAX_LABEL_SHARE = 0.4
"""Labels that take more of the width than this stand above their texts where those have no room beside them."""
_ITEM = "- "


class Style(NamedTuple):
    """width: in columns, None where nothing limits it. color: whether in colour. height: in lines, of a terminal."""

    width: int | None = None
    color: bool = False
    height: int | None = None


class Part(NamedTuple):
    """Lines of a block that belong together.

    item: the paragraph, the fact or the row of a table that they show; None for headers, notes and gaps.
    """

    item: object
    lines: list[TextLine]


def text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """Each block as text. Without colour no line ends in blanks.

    What a terminal shows last is what it shows: below an answer that is higher, the verdict stands once more.
    """
    height, verdicts = 0, []
    for block in blocks:
        printed = _text(block, style)
        yield printed
        height += printed.count("\n")
        if isinstance(block, Paragraph) and block.is_verdict:
            verdicts.append(printed)
    if verdicts and style.height is not None and height >= style.height:
        yield "".join(("\n", *verdicts))


def _text(block: Block, style: Style) -> str:
    lines = (line for part in parts_of(block, style.width) for line in part.lines)
    if style.color:
        return "".join(f"{_colored(line)}\n" for line in lines)
    return "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)


def _colored(line: TextLine) -> str:
    from rich.color import ColorSystem
    from rich.style import Style as RichStyle

    last = next((at for at in reversed(range(len(line))) if line[at].text.strip(" ")), -1)
    shown = [*line[:last], *(run._replace(text=run.text.rstrip(" ")) for run in line[last : last + 1])]
    looks = ((run.text, RichStyle.parse(LOOKS[run.tone])) for run in shown)
    return "".join(look.render(text, color_system=ColorSystem.STANDARD) for text, look in looks)


def parts_of(block: Block, width: int | None, cuts: bool = False) -> Iterator[Part]:
    """The lines of a block, at most so wide, None for no limit; those of code and commands can be wider.

    cuts: cells of a table are cut where they have no room, so that each of their lines stays one.
    """
    room = UNLIMITED if width is None else width
    if isinstance(block, Gap):
        yield Part(None, [[]])
    elif isinstance(block, Matrix):
        from dispatch_cli.render.text_matrix import TextMatrix

        for paragraph in TextMatrix(block, width).blocks():
            yield from parts_of(paragraph, width)
    elif isinstance(block, Excerpt):
        yield _paragraph(marked_line(block, width), room)
    elif isinstance(block, TableBlock):
        yield from _table(block, room, cuts)
    elif isinstance(block, Facts):
        yield from _facts(block, room)
    else:
        yield _paragraph(block, room)


def _broken(line: TextLine, width: int, hang: int = 0) -> list[TextLine]:
    """The lines of a text, at most so wide; all but the first have *hang* columns less."""
    if line_width(line) <= width:
        return [line]
    from dispatch_cli.render.text_broken import broken

    return broken(line, width, hang)


def _paragraph(block: Paragraph, width: int) -> Part:
    """A paragraph, an item of a list with its mark."""
    inline, hang = block.inline, block.hang
    if block.kind is ParagraphKind.ITEM:
        inline, hang = joined(_ITEM, inline), hang + len(_ITEM)
    first, *others = shown_lines(inline, Tone.HEAD if block.kind in HEADS else Tone.PLAIN)
    room = max(width - block.indent, hang + 1)
    if block.kind is ParagraphKind.CODE:
        return Part(block, [blanks(block.indent) + line for line in (first, *others)])
    rows = _broken(first, room, hang)
    rows += (row for line in others for row in _broken(line, room - hang))
    return Part(block, [blanks(block.indent + (hang if at else 0)) + row for at, row in enumerate(rows)])


def _facts(block: Facts, width: int) -> Iterator[Part]:
    """Labels and texts side by side; labels above their texts where there is little room."""
    rows = [(shown_lines(fact.label, block.tone)[0], shown_lines(fact.inline)) for fact in block.rows]
    labels = max((line_width(label) for label, _ in rows), default=0)
    above = _stand_above(rows, labels, width - block.indent)
    indent = block.indent + (2 * GAP if above else labels + GAP)
    for fact, (label, lines) in zip(block.rows, rows, strict=True):
        texts = [row for line in lines for row in _broken(line, width - indent)]
        if above:
            heads = _broken(label, width - block.indent)
            shown = [*(blanks(block.indent) + row for row in heads), *(blanks(indent) + row for row in texts)]
        else:
            shown = beside([[label], texts], (labels, 0), (False, False), block.indent)
        yield Part(fact, shown)


def _stand_above(rows: Sequence[tuple[TextLine, list[TextLine]]], labels: int, room: int) -> bool:
    """True if labels stand above their texts: where they take much of the width, or a place is whole only so."""
    beside_labels = room - labels - GAP
    wide = [line for _, lines in rows for line in lines if line_width(line) > beside_labels]
    if not wide or labels > room * MAX_LABEL_SHARE:
        return bool(wide)
    from dispatch_cli.render.text_broken import own_places

    places = (place for line in wide for place in own_places("".join(run.text for run in line)))
    return any(beside_labels < width_of(place) <= room - 2 * GAP for place in places)


class _Fit(Enum):
    """Parts of cells that must have room in one line: all of them, words and places of the user, these places, none."""

    WHOLE = "whole"
    WORDS = "words"
    PLACES = "places"
    NOTHING = "nothing"


class _Layout(NamedTuple):
    """A table with the widths of its columns. short: whether the cells are the short ones."""

    grid: ShownCells
    cells: Sequence[Sequence[list[TextLine]]]
    widths: Sequence[int]
    short: bool


def _table(table: TableBlock[Any], width: int, cuts: bool) -> Iterator[Part]:
    """The headers, each row, below it what has lines of its own, and the note on short cells."""
    room = width - table.indent
    layout = _layout(table, room, cuts)
    if layout is None:
        yield from _cards(table, width)
    else:
        heads = [shown_lines(column.header, Tone.HEAD) for column in layout.grid.columns]
        yield Part(None, _row(layout, heads, table.indent, room, cuts))
        for item, cells, below in zip(table.rows, layout.cells, layout.grid.below, strict=True):
            lines = _row(layout, cells, table.indent, room, cuts)
            for inline in () if cuts else below:
                lines += (blanks(table.indent + UNDER) + row for row in _cell(shown_lines(inline), room - UNDER))
            yield Part(item, lines)
    if runs_of(table.narrow_note) and (layout is None or layout.short):
        yield Part(None, [[], *(row for line in shown_lines(table.narrow_note) for row in _broken(line, width))])


def _layout(table: TableBlock[Any], room: int, cuts: bool) -> _Layout | None:
    """The first layout for which there is room; None where there is for none."""
    for grid, short, fit in _grids(table, cuts):
        cells = [_reaching(grid, [shown_lines(cell) for cell in row]) for row in grid.rows]
        if (widths := _widths(grid, cells, room, fit)) is not None:
            return _Layout(grid, cells, widths, short)
    return None


def _grids(table: TableBlock[Any], cuts: bool) -> Iterator[tuple[ShownCells, bool, _Fit]]:
    """The cells to try, from all columns with whole cells to those that are left where there is little room."""
    yield cells_of(table), False, _Fit.WHOLE
    most = stackable(table)
    if cuts:
        for stacked in range(most + 1):
            grid = cells_of(table, short=True, stacked=stacked)
            yield grid, True, _Fit.WHOLE
        yield grid, True, _Fit.NOTHING
        return
    yield cells_of(table, short=True), True, _Fit.WHOLE
    below = any(column.narrow is Narrow.BELOW for column in table.columns)
    for stacked in range(0 if below else most, most + 1):
        grid = cells_of(table, short=True, stacked=stacked)
        yield grid, True, _Fit.WORDS
    yield grid, True, _Fit.PLACES


def _reaching(grid: ShownCells, cells: list[list[TextLine]]) -> list[list[TextLine]]:
    """The cells of a row up to the last one that has a text, if that may be wider than its column."""
    last = max((at for at, cell in enumerate(cells) if any(cell)), default=0)
    return cells[: last + 1] if grid.columns[last].overflows else cells


def _widths(grid: ShownCells, rows: Sequence[Sequence[list[TextLine]]], room: int, fit: _Fit) -> Sequence[int] | None:
    """The width of each column; None where the columns have no room beside each other.

    Places of the user stay whole, and of one that no line has room for, the file, line and column.
    """
    room -= GAP * (len(grid.columns) - 1)
    whole = [cells for cells in rows if len(cells) == len(grid.columns)]
    columns = [[line for cells in whole for line in cells[at]] for at in range(len(grid.columns))]
    heads = (width_of(safe(column.header)) for column in grid.columns)
    wishes = [max(head, *map(line_width, lines), 0) for head, lines in zip(heads, columns, strict=True)]
    if sum(wishes) <= room or fit is _Fit.WHOLE:
        return wishes if sum(wishes) <= room else None
    if fit is _Fit.NOTHING:
        # the first column has the names, which are of no use when little is left of them
        least = [max(LEAST, room * 2 // 5), *(LEAST for _ in wishes[1:])]
        floors = [*map(min, wishes, least)]
        return _shared(wishes, floors, room) or floors
    from dispatch_cli.render.text_broken import needed_width

    floors = wishes.copy()
    for at, (column, lines) in enumerate(zip(grid.columns, columns, strict=True)):
        if not column.right and (column.wraps or fit is _Fit.PLACES):
            needed = max((needed_width(line, room, fit is _Fit.PLACES) for line in lines), default=0)
            floors[at] = min(wishes[at], max(LEAST if fit is _Fit.PLACES else MIN_BROKEN, needed))
    return _shared(wishes, floors, room)


def _shared(wishes: Sequence[int], floors: Sequence[int], room: int) -> list[int] | None:
    """Room for columns that would take *wishes* and need *floors*; None where there is none for these.

    The widest columns give way first, down to what each needs.
    """
    if sum(floors) > room:
        return None
    cap = max(wishes)
    while sum(widths := [max(floor, min(wish, cap)) for wish, floor in zip(wishes, floors, strict=True)]) > room:
        cap -= 1
    for at, wish in enumerate(wishes):
        widths[at] = min(wish, widths[at] + room - sum(widths)) if widths[at] == cap else widths[at]
    return widths


def _row(layout: _Layout, cells: Sequence[list[TextLine]], indent: int, room: int, cuts: bool) -> list[TextLine]:
    """The cells of a row beside each other; where the last ones are left out, the last that is there has their room."""
    widths = list(layout.widths[: len(cells)])
    if len(cells) < len(layout.widths):
        widths[-1] = room - sum(widths[:-1]) - GAP * (len(widths) - 1)
    fitted = [_cell(lines, width, cuts) for lines, width in zip(cells, widths, strict=True)]
    right = [column.right for column in layout.grid.columns]
    return beside(fitted, layout.widths[: len(cells)], right[: len(cells)], indent)


def _cell(lines: Iterable[TextLine], width: int, cuts: bool = False) -> list[TextLine]:
    """The lines of a cell; its further lines begin where their first one does."""
    rows: list[TextLine] = []
    for line in lines:
        if line_width(line) <= width:
            rows.append(line)
        else:
            from dispatch_cli.render.text_broken import broken_cell, cut

            rows += [cut(line, width)] if cuts else broken_cell(line, width)
    return rows


def _cards(table: TableBlock[Any], width: int) -> Iterator[Part]:
    """Each row as facts, where the columns have no room beside each other."""
    grid = cells_of(table, short=True)
    for item, row in zip(table.rows, grid.rows, strict=True):
        facts = [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell]
        yield Part(item, [*(line for part in _facts(Facts(facts, table.indent), width) for line in part.lines), []])


class ListLayout(NamedTuple):
    """A table as a list of thousands of rows, each a line that is made when it is looked at."""

    columns: Sequence[Column[Any]]
    widths: Sequence[int]
    short: bool

    def header(self) -> TextLine:
        """The line above the rows."""
        return self._line([[Run(column.header, Tone.HEAD)] for column in self.columns])

    def line(self, row: Any) -> TextLine:
        """A row; cells that have no room are cut."""
        return self._line([shown_lines(column.cell(row, self.short))[0] for column in self.columns])

    def _line(self, cells: Sequence[TextLine]) -> TextLine:
        lines = [_cell([cell], width, cuts=True) for cell, width in zip(cells, self.widths, strict=True)]
        return beside(lines, self.widths, [column.right for column in self.columns])[0]


def list_layout(table: TableBlock[Any], room: int) -> ListLayout:
    """Layout with which a list of these rows has room; columns that could stand below their rows are left out."""
    layout = _layout(table, room, cuts=True)
    assert layout is not None, "cells that are cut always have room"
    return ListLayout(layout.grid.columns, layout.widths, layout.short)
