"""Lines in colour, and blocks that have no room, by rich: it wraps them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from dispatch_cli.render.document import (
    UNDER,
    Block,
    Fact,
    Facts,
    Narrow,
    Paragraph,
    Run,
    ShownCells,
    TableBlock,
    Tone,
    cells_of,
    runs_of,
    stackable,
)
from dispatch_cli.render.placed_text import HangingText, PlacedText, shortened
from dispatch_cli.render.places import BLANK, own_places
from dispatch_cli.render.text_columns import Wraps, column_widths
from dispatch_cli.render.text_lines import (
    BELOW,
    GAP,
    HEADS,
    Style,
    TextLine,
    facts_lines,
    label_line,
    marked,
    shown_lines,
    width_of,
)

UNLIMITED = 1_000_000
"""Width where no terminal limits it: nothing is wrapped in a pipe."""
MAX_LABEL_SHARE = 0.4
"""Labels that take more of the width than this stand above their texts where those have no room beside them."""
LOOKS = {
    Tone.PLAIN: "",
    Tone.HEAD: "bold",
    Tone.KERNEL: "bold green",
    Tone.ALIAS: "cyan",
    Tone.FALLBACK: "blue",
    Tone.WARN: "yellow",
    Tone.BAD: "bold red",
    Tone.DIM: "dim",
    Tone.PLACE: "dim",
}


def by_rich(renderables: Iterable[RenderableType], style: Style, wraps: bool) -> str:
    """What rich prints. wraps: whether it may break lines."""
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=style.width or UNLIMITED,
        force_terminal=style.color,
        no_color=not style.color,
        color_system="standard" if style.color else None,
        markup=False,
        emoji=False,
        highlight=False,
        legacy_windows=False,
    )
    for renderable in renderables:
        console.print(renderable, soft_wrap=not wraps)
    found = buffer.getvalue().replace(BLANK, " ")
    return found if style.color else "\n".join(line.rstrip() for line in found.split("\n"))


def rich_line(line: Sequence[Run]) -> Text:
    """A line in its colours. It does not end in blanks."""
    texts = ((run.text.replace(" ", BLANK) if run.tone is Tone.PLACE else run.text, LOOKS[run.tone]) for run in line)
    found = PlacedText.assemble(*texts)
    found.rstrip()
    return found


def _rich_lines(lines: Iterable[TextLine]) -> Text:
    return PlacedText().append_text(Text("\n").join(map(rich_line, lines)))


def wrapping(block: Block, style: Style) -> Iterator[RenderableType]:
    """A block that has no room, for rich to wrap."""
    if isinstance(block, TableBlock):
        yield from _wrapping_rows(block, style)
        if runs_of(block.narrow_note):
            yield _rich_lines([[], *shown_lines(block.narrow_note)])
    elif isinstance(block, Facts):
        yield from _wrapping_facts(block, style)
    elif isinstance(block, Paragraph):
        block = marked(block)
        tone = Tone.HEAD if block.kind in HEADS else Tone.PLAIN
        yield from _hanging(_rich_lines(shown_lines(block.inline, tone)), block.indent, block.hang, style)


def _hanging(found: Text, indent: int, hang: int, style: Style) -> Iterator[RenderableType]:
    """A text whose first line stands at *indent*, and its further lines *hang* behind it."""
    console, width = Console(width=style.width), max(style.width or UNLIMITED, indent + hang + 1)
    found = shortened(found, width - indent - hang)
    if hang:
        first = found.wrap(console, width - indent)[0]
        yield _indented(first, indent)
        found = found[len(first.plain) :]
        while found.plain[:1].isspace():
            found = found[1:]
    if found.plain or not hang:
        yield _indented(found, indent + hang)


def _indented(renderable: RenderableType, indent: int) -> RenderableType:
    return Padding(renderable, (0, 0, 0, indent)) if indent else renderable


def _wrapping_facts(block: Facts, style: Style) -> Iterator[RenderableType]:
    rows = [(rich_line(label_line(row, block.tone)), _rich_lines(shown_lines(row.inline))) for row in block.rows]
    if style.width is not None and _stand_above(rows, style.width, block.indent):
        for label, found in rows:
            yield _indented(label, block.indent)
            yield _indented(found, block.indent + 2 * GAP)
        return
    grid = RichTable.grid(padding=(0, GAP, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, found in rows:
        grid.add_row(label, found)
    yield _indented(grid, block.indent)


def _stand_above(rows: list[tuple[Text, Text]], width: int, indent: int) -> bool:
    """Whether labels stand above their texts: where they take much of the width, or a place is whole only so."""
    labels = max(label.cell_len for label, _ in rows)
    if labels > width * MAX_LABEL_SHARE:
        return True
    beside, below = width - indent - labels - GAP, width - indent - 2 * GAP
    places = (width_of(place) for _, found in rows for place in own_places(found.plain))
    return any(beside < place <= below for place in places)


def _wrapping_rows(table: TableBlock, style: Style) -> Iterator[RenderableType]:  # type: ignore[type-arg]
    room = (style.width or UNLIMITED) - table.indent
    most = stackable(table)
    steps = range(most + 1) if any(column.narrow is Narrow.BELOW for column in table.columns) else (most,)
    grids = [cells_of(table, short=True, stacked=stacked) for stacked in steps]
    last = grids[-1]
    for grid, wraps in (*((grid, Wraps.TEXTS) for grid in grids), (last, Wraps.NAMES), (last, Wraps.ALL)):
        if widths := column_widths(grid, room, wraps):
            yield from _columns(grid, widths, table.indent, room)
            return
    yield from _cards(cells_of(table, short=True), table.indent, style)


def _columns(grid: ShownCells, widths: list[int], indent: int, room: int) -> Iterator[RenderableType]:
    """Columns of these widths, the headers first, and below each row what has lines of its own."""
    console, right = Console(width=room), [column.right for column in grid.columns]

    def beside(cells: Iterable[list[TextLine]]) -> Iterator[RenderableType]:
        columns = [_wrapped(lines, width, console) for lines, width in zip(cells, widths, strict=True)]
        for parts in zip_longest(*columns, fillvalue=Text()):
            line = Text(" " * indent)
            for at, (part, width) in enumerate(zip(parts, widths, strict=True)):
                blanks = " " * (width - part.cell_len)
                line.append(" " * GAP if at else "").append(blanks if right[at] else "")
                line.append_text(part).append("" if right[at] else blanks)
            line.rstrip()
            yield line

    yield from beside(shown_lines(column.header, Tone.HEAD) for column in grid.columns)
    for row, below in zip(grid.rows, grid.below, strict=True):
        yield from beside(map(shown_lines, row))
        for inline in below:
            for line in _wrapped(shown_lines(inline), room - UNDER, console):
                yield Text(" " * (indent + UNDER)).append_text(line)


def _wrapped(lines: list[TextLine], width: int, console: Console) -> list[Text]:
    """The lines of a cell; those that stand below another's keep their indent."""
    found = []
    for line in lines:
        indent, runs = (UNDER, line[1:]) if line[:1] == [BELOW] else (0, line)
        text = HangingText().append_text(rich_line(runs))
        found += [Text(" " * indent).append_text(one) for one in text.wrap(console, width - indent, overflow="fold")]
    return found


def _cards(grid: ShownCells, indent: int, style: Style) -> Iterator[RenderableType]:
    """Each row as facts, where the columns have no room beside each other."""
    for row in grid.rows:
        facts = Facts(
            [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell], indent
        )
        lines = facts_lines(facts, style.width)
        yield from _wrapping_facts(facts, style) if lines is None else (_rich_lines(lines),)
        yield rich_line([])
