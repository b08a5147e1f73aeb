"""Lines in colour, and blocks that have no room, by rich: it wraps them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text
from rich.theme import Theme

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


class WrappedPart(NamedTuple):
    """Part, as in `text_lines.Part`, of a block that rich wraps."""

    item: object
    renderables: Sequence[RenderableType]


def style_name(tone: Tone) -> str:
    """Name of a tone's style in rich; a console's theme defines its look."""
    return f"tone.{tone.value}"


def by_rich(renderables: Iterable[RenderableType], style: Style, wraps: bool) -> str:
    """Output of rich. wraps: rich may break lines."""
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
        theme=Theme({style_name(tone): look for tone, look in LOOKS.items()}),
    )
    for renderable in renderables:
        console.print(renderable, soft_wrap=not wraps)
    printed = buffer.getvalue().replace(BLANK, " ")
    return printed if style.color else "\n".join(line.rstrip() for line in printed.split("\n"))


def rich_line(line: Sequence[Run]) -> Text:
    """A line in its colours. It does not end in blanks."""
    text = PlacedText.assemble(*((_glued(run), "" if run.tone is Tone.PLAIN else style_name(run.tone)) for run in line))
    text.rstrip()
    return text


def _glued(run: Run) -> str:
    return run.text.replace(" ", BLANK) if run.tone is Tone.PLACE else run.text


def _rich_lines(lines: Iterable[TextLine]) -> Text:
    return PlacedText().append_text(Text("\n").join(map(rich_line, lines)))


def wrapping(block: Block, style: Style) -> Iterator[RenderableType]:
    """A block that has no room, for rich to wrap."""
    for part in wrapping_parts(block, style):
        yield from part.renderables


def wrapping_parts(block: Block, style: Style) -> Iterator[WrappedPart]:
    """A block that has no room, in parts."""
    if isinstance(block, TableBlock):
        yield from _wrapping_rows(block, style)
        if runs_of(block.narrow_note):
            yield WrappedPart(None, [_rich_lines([[], *shown_lines(block.narrow_note)])])
    elif isinstance(block, Facts):
        yield from _wrapping_facts(block, style)
    elif isinstance(block, Paragraph):
        shown = marked(block)
        tone = Tone.HEAD if shown.kind in HEADS else Tone.PLAIN
        lines = _rich_lines(shown_lines(shown.inline, tone))
        yield WrappedPart(block, [*_hanging(lines, shown.indent, shown.hang, style)])


def _hanging(text: Text, indent: int, hang: int, style: Style) -> Iterator[RenderableType]:
    """A text whose first line stands at *indent*, and its further lines *hang* behind it."""
    console, width = Console(width=style.width), max(style.width or UNLIMITED, indent + hang + 1)
    text = shortened(text, width - indent - hang)
    if hang:
        first = text.wrap(console, width - indent)[0]
        yield _indented(first, indent)
        text = text[len(first.plain) :]
        while text.plain[:1].isspace():
            text = text[1:]
    if text.plain or not hang:
        yield _indented(text, indent + hang)


def _indented(renderable: RenderableType, indent: int) -> RenderableType:
    return Padding(renderable, (0, 0, 0, indent)) if indent else renderable


def _wrapping_facts(block: Facts, style: Style) -> Iterator[WrappedPart]:
    rows = [(rich_line(label_line(row, block.tone)), _rich_lines(shown_lines(row.inline))) for row in block.rows]
    above = style.width is not None and _stand_above(rows, style.width, block.indent)
    labels = max(label.cell_len for label, _ in rows)
    for fact, (label, value) in zip(block.rows, rows, strict=True):
        if above:
            stacked = [_indented(label, block.indent), _indented(value, block.indent + 2 * GAP)]
            yield WrappedPart(fact, stacked)
            continue
        grid = RichTable.grid(padding=(0, GAP, 0, 0))
        grid.add_column(no_wrap=True, width=labels)
        grid.add_column(overflow="fold")
        grid.add_row(label, value)
        yield WrappedPart(fact, [_indented(grid, block.indent)])


def _stand_above(rows: list[tuple[Text, Text]], width: int, indent: int) -> bool:
    """True if labels stand above their texts: where they take much of the width, or a place is whole only so."""
    labels = max(label.cell_len for label, _ in rows)
    if labels > width * MAX_LABEL_SHARE:
        return True
    beside, below = width - indent - labels - GAP, width - indent - 2 * GAP
    places = (width_of(place) for _, value in rows for place in own_places(value.plain))
    return any(beside < place <= below for place in places)


def _wrapping_rows(table: TableBlock, style: Style) -> Iterator[WrappedPart]:  # type: ignore[type-arg]
    room = (style.width or UNLIMITED) - table.indent
    most = stackable(table)
    steps = range(most + 1) if any(column.narrow is Narrow.BELOW for column in table.columns) else (most,)
    grids = [cells_of(table, short=True, stacked=stacked) for stacked in steps]
    last = grids[-1]
    for grid, wraps in (*((grid, Wraps.TEXTS) for grid in grids), (last, Wraps.NAMES), (last, Wraps.ALL)):
        if widths := column_widths(grid, room, wraps):
            yield from _columns(grid, table, widths, room)
            return
    yield from _cards(cells_of(table, short=True), table, style)


def _columns(grid: ShownCells, table: TableBlock, widths: list[int], room: int) -> Iterator[WrappedPart]:  # type: ignore[type-arg]
    """Columns of these widths, the headers first, and below each row what has lines of its own."""
    console, right, indent = Console(width=room), [column.right for column in grid.columns], table.indent

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

    yield WrappedPart(None, [*beside(shown_lines(column.header, Tone.HEAD) for column in grid.columns)])
    for item, row, below in zip(table.rows, grid.rows, grid.below, strict=True):
        row_lines = [*beside(map(shown_lines, row))]
        for inline in below:
            lines = _wrapped(shown_lines(inline), room - UNDER, console)
            row_lines += (Text(" " * (indent + UNDER)).append_text(line) for line in lines)
        yield WrappedPart(item, row_lines)


def _wrapped(lines: list[TextLine], width: int, console: Console) -> list[Text]:
    """The lines of a cell; those that stand below another's keep their indent."""
    wrapped = []
    for line in lines:
        indent, runs = (UNDER, line[1:]) if line[:1] == [BELOW] else (0, line)
        text = HangingText().append_text(rich_line(runs))
        wrapped += [Text(" " * indent).append_text(row) for row in text.wrap(console, width - indent, overflow="fold")]
    return wrapped


def _cards(grid: ShownCells, table: TableBlock, style: Style) -> Iterator[WrappedPart]:  # type: ignore[type-arg]
    """Each row as facts, where the columns have no room beside each other."""
    for item, row in zip(table.rows, grid.rows, strict=True):
        facts = Facts(
            [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell], table.indent
        )
        parts = facts_lines(facts, style.width)
        if parts is None:
            renderables = [renderable for part in _wrapping_facts(facts, style) for renderable in part.renderables]
        else:
            renderables = [_rich_lines(line for part in parts for line in part.lines)]
        yield WrappedPart(item, [*renderables, rich_line([])])
