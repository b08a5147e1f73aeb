"""Lines in colour, and blocks that have no room, by rich: it wraps them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from dispatch_cli.render.document import (
    UNDER,
    Block,
    Fact,
    Facts,
    Paragraph,
    Run,
    ShownCells,
    TableBlock,
    Tone,
    cells_of,
    runs_of,
)
from dispatch_cli.render.placed_text import BLANK, PlacedText, shortened
from dispatch_cli.render.text_lines import (
    BELOW,
    GAP,
    HEADS,
    Style,
    TextLine,
    facts_lines,
    label_line,
    line_width,
    marked,
    shown_lines,
    width_of,
)
from dispatch_cli.render.text_safety import safe

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
    if style.width is not None and max(label.cell_len for label, _ in rows) > style.width * MAX_LABEL_SHARE:
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


def _wrapping_rows(table: TableBlock, style: Style) -> Iterator[RenderableType]:  # type: ignore[type-arg]

    grid = cells_of(table, short=True, stacked=True)
    keep = _unwrapped(grid, (style.width or UNLIMITED) - table.indent)
    if keep is None:
        yield from _cards(grid, table.indent, style)
        return
    found = RichTable(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_edge=False)
    for column, kept in zip(grid.columns, keep, strict=True):
        header = _rich_lines(shown_lines(column.header, Tone.HEAD))
        found.add_column(header, justify="right" if column.right else "left", overflow="fold", no_wrap=kept)
    for row in grid.rows:
        found.add_row(*(_wrapping_cell(shown_lines(cell)) for cell in row))
    yield _indented(found, table.indent)


def _cards(grid: ShownCells, indent: int, style: Style) -> Iterator[RenderableType]:
    """Each row as facts, where the columns have no room beside each other."""
    for row in grid.rows:
        facts = Facts(
            [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell], indent
        )
        lines = facts_lines(facts, style.width)
        yield from _wrapping_facts(facts, style) if lines is None else (_rich_lines(lines),)
        yield rich_line([])


def _wrapping_cell(lines: list[TextLine]) -> RenderableType:
    """A cell; lines that stand below another's keep their indent when they are wrapped."""
    if all(line[:1] != [BELOW] for line in lines):
        return _rich_lines(lines)

    return Group(*(_indented(rich_line(line[1:]), UNDER) if line[:1] == [BELOW] else rich_line(line) for line in lines))


MIN_WRAPPED, LEAST = 20, 8
"""Columns that the cells that wrap should have; with less all cells wrap, and below the least a row is no row."""


def _unwrapped(grid: ShownCells, room: int) -> list[bool] | None:
    """For each column, whether its cells stay whole; None where the columns have no room at all."""
    widest = [
        max(
            [
                width_of(safe(column.header)),
                *(line_width(line) for row in grid.rows for line in shown_lines(row[position])),
            ]
        )
        for position, column in enumerate(grid.columns)
    ]
    room += GAP - GAP * len(widest)
    right = [column.right for column in grid.columns]
    for least, keep in ((MIN_WRAPPED, [column.right or not column.wraps for column in grid.columns]), (LEAST, right)):
        needed = (width if kept else min(width, least) for width, kept in zip(widest, keep, strict=True))
        if sum(needed) <= room:
            return keep
    return None
