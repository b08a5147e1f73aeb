"""Blocks that have no room as they are: their lines are broken, and columns stand below each other."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.render.document import (
    UNDER,
    Block,
    Fact,
    Facts,
    Narrow,
    Paragraph,
    ParagraphKind,
    ShownCells,
    TableBlock,
    Tone,
    cells_of,
    runs_of,
    stackable,
)
from dispatch_cli.render.text_broken import BLANK, COUNT, LINE, START, broken, broken_cell, own_places
from dispatch_cli.render.text_lines import (
    BELOW,
    GAP,
    LEAST,
    Part,
    TextLine,
    beside,
    blanks,
    facts_lines,
    label_line,
    line_width,
    paragraph_lines,
    shared,
    shown_lines,
    width_of,
)
from dispatch_cli.render.text_safety import safe

MAX_LABEL_SHARE = 0.4
"""Labels that take more of the width than this stand above their texts where those have no room beside them."""
MIN_WRAPPED = 18
"""Columns that the cells that wrap should have; with less all cells wrap."""


def wrapped_parts(block: Block, width: int) -> Iterator[Part]:
    """A block that has no room, in parts."""
    if isinstance(block, TableBlock):
        yield from _rows(block, width)
        if runs_of(block.narrow_note):
            note = [row for line in shown_lines(block.narrow_note) for row in broken(line, width)]
            yield Part(None, [[], *note])
    elif isinstance(block, Facts):
        yield from _facts(block, width)
    elif isinstance(block, Paragraph):
        shown, (first, *others) = paragraph_lines(block)
        room = max(width - shown.indent, shown.hang + 1)
        if shown.kind is ParagraphKind.CODE:
            code = [row for line in (first, *others) for row in _code(line, room, shown.hang)]
            yield Part(block, [blanks(shown.indent) + row for row in code])
            return
        rows = broken(first, room, shown.hang)
        rows += (row for line in others for row in broken(line, room - shown.hang))
        yield Part(block, [blanks(shown.indent + (shown.hang if at else 0)) + row for at, row in enumerate(rows)])


def _code(line: TextLine, room: int, hang: int) -> list[TextLine]:
    """A line of code; what it has no room for stands below it, further in."""
    text = "".join(run.text for run in line)
    start = len(text) - len(text.lstrip()) + hang
    first, *others = broken(line, room, start)
    return [first, *(blanks(start) + row for row in others)]


def _facts(block: Facts, width: int) -> Iterator[Part]:
    rows = [(label_line(fact, block.tone), shown_lines(fact.inline)) for fact in block.rows]
    above = _stand_above(rows, width, block.indent)
    labels = max(line_width(label) for label, _ in rows)
    indent = block.indent + (2 * GAP if above else labels + GAP)
    for fact, (label, texts) in zip(block.rows, rows, strict=True):
        texts = [row for line in texts for row in broken(line, width - indent)]
        if above:
            heads = broken(label, width - block.indent)
            part_lines = [*(blanks(block.indent) + row for row in heads), *(blanks(indent) + row for row in texts)]
        else:
            part_lines = beside([[label], texts], (labels, 0), (False, False), block.indent)
        yield Part(fact, part_lines)


def _stand_above(rows: list[tuple[TextLine, list[TextLine]]], width: int, indent: int) -> bool:
    """True if labels stand above their texts: where they take much of the width, or a place is whole only so."""
    labels = max(line_width(label) for label, _ in rows)
    if labels > width * MAX_LABEL_SHARE:
        return True
    beside_labels, below = width - indent - labels - GAP, width - indent - 2 * GAP
    texts = ("".join(run.text for run in line) for _, lines in rows for line in lines)
    return any(beside_labels < width_of(place) <= below for text in texts for place in own_places(text))


def _rows(table: TableBlock, width: int) -> Iterator[Part]:  # type: ignore[type-arg]
    room = width - table.indent
    most = stackable(table)
    steps = range(most + 1) if any(column.narrow is Narrow.BELOW for column in table.columns) else (most,)
    grids = [cells_of(table, short=True, stacked=stacked) for stacked in steps]
    last = grids[-1]
    for grid, narrow in (*((grid, False) for grid in grids), (last, True)):
        if widths := column_widths(grid, room, narrow):
            yield from _columns(grid, table, widths, room)
            return
    yield from _cards(cells_of(table, short=True), table, width)


def _columns(grid: ShownCells, table: TableBlock, widths: list[int], room: int) -> Iterator[Part]:  # type: ignore[type-arg]
    """Columns of these widths, the headers first, and below each row what has lines of its own."""
    right = [column.right for column in grid.columns]

    def row_lines(cells: list[list[TextLine]]) -> list[TextLine]:
        columns = [_cell(lines, width) for lines, width in zip(cells, widths, strict=True)]
        return beside(columns, widths, right, table.indent)

    yield Part(None, row_lines([shown_lines(column.header, Tone.HEAD) for column in grid.columns]))
    for item, row, below in zip(table.rows, grid.rows, grid.below, strict=True):
        lines = row_lines([*map(shown_lines, row)])
        for inline in below:
            lines += (blanks(table.indent + UNDER) + line for line in _cell(shown_lines(inline), room - UNDER))
        yield Part(item, lines)


def _cell(lines: list[TextLine], width: int) -> list[TextLine]:
    """The lines of a cell; those that stand below another's keep their indent."""
    rows: list[TextLine] = []
    for line in lines:
        indent, runs = (UNDER, line[1:]) if line[:1] == [BELOW] else (0, line)
        rows += (blanks(indent) + row for row in broken_cell(runs, width - indent))
    return rows


def _cards(grid: ShownCells, table: TableBlock, width: int) -> Iterator[Part]:  # type: ignore[type-arg]
    """Each row as facts, where the columns have no room beside each other."""
    for item, row in zip(table.rows, grid.rows, strict=True):
        facts = Facts(
            [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell], table.indent
        )
        parts = facts_lines(facts, width)
        lines = [line for part in (_facts(facts, width) if parts is None else parts) for line in part.lines]
        yield Part(item, [*lines, []])


def column_widths(grid: ShownCells, room: int, narrow: bool) -> list[int] | None:
    """The width of each column; None where the columns have no room beside each other.

    Places of the user stay whole, and of one that no line has room for, the file, line and column. PyTorch's own are
    shortened. narrow: other names are broken, too, and cells that should not be.
    """
    room -= GAP * (len(grid.columns) - 1)
    wishes, floors = [], []
    for at, column in enumerate(grid.columns):
        lines = [line for row in grid.rows for line in shown_lines(row[at])]
        wishes.append(max([width_of(safe(column.header)), *map(line_width, lines)]))
        needed = max((_needed(line, room, narrow) for line in lines), default=0)
        wraps = not column.right and (column.wraps or narrow)
        floors.append(min(wishes[-1], max(LEAST if narrow else MIN_WRAPPED, needed)) if wraps else wishes[-1])
    return shared(wishes, floors, room)


def _needed(line: TextLine, room: int, narrow: bool) -> int:
    """The width that the words of a line need; narrow: its places alone. PyTorch's own places need none."""
    indent = line_width([BELOW]) if line[:1] == [BELOW] else 0
    text = "".join(run.text.replace(" ", BLANK) if run.tone is Tone.PLACE else run.text for run in line[bool(indent) :])
    if start := START.match(text):
        indent, text = start.end(), text[start.end() :]
    own = own_places(text)
    words = [] if narrow else [word for word in COUNT.sub(BLANK, text).split() if not LINE.search(word)]
    widths = [*(_place_width(place, room - indent) for place in own), *map(width_of, words)]
    return indent + max(widths) if widths else 0


def _place_width(place: str, room: int) -> int:
    """The width of a place; of one that has no room at all, that of its end."""
    if (width := width_of(place)) <= room:
        return width
    number = LINE.search(place)
    end = number.start() if number else len(place)
    start = max(place.rfind("/", 0, end), place.rfind("\\", 0, end), 0)
    return min(room, width_of(place[start:]) + 1)
