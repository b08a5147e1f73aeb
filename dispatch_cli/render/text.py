"""Documents as text for a terminal or a pipe.

Lines that fit and have no colour are laid out here; rich is imported only for colours and for wrapping. The colours are
the writer's alone: what comes from outside can change neither them nor the terminal.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.render.document import (
    UNDER,
    Block,
    Fact,
    Facts,
    Gap,
    Inline,
    Paragraph,
    ParagraphKind,
    Run,
    ShownCells,
    TableBlock,
    Tone,
    cells_of,
    joined,
    lines_of,
    runs_of,
    toned,
)
from dispatch_cli.render.text_safety import safe

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

UNLIMITED = 1_000_000
"""Width where no terminal limits it: nothing is wrapped in a pipe."""
GAP = 2
"""Blanks between columns."""
BELOW = Run(" " * UNDER)
"""What a line begins with that stands below another in its cell."""
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
_HEADS = (ParagraphKind.TITLE, ParagraphKind.SECTION)

TextLine = list[Run]
"""A line that is laid out. Its runs are safe to print, and do not break."""


class Style(NamedTuple):
    """width: in columns, None where nothing limits it. color: whether in colour."""

    width: int | None = None
    color: bool = False


def text(blocks: Iterable[Block], style: Style) -> Iterator[str]:
    """Each block as text. Without colour no line ends in blanks."""
    for block in blocks:
        lines = _laid_out(block, style.width)
        if lines is not None and not style.color:
            yield "".join(f"{''.join(run.text for run in line).rstrip()}\n" for line in lines)
        else:
            yield _by_rich(_wrapping(block, style) if lines is None else map(_rich, lines), style, lines is None)


def width_of(text: str) -> int:
    """Columns that a text takes. Rich's tables of wide characters are asked only where there may be one."""
    if text.replace("…", ".").replace("·", ".").isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _safe_lines(inline: Inline, tone: Tone = Tone.PLAIN) -> list[TextLine]:
    """Lines that are safe to print. tone: of the runs that have none."""
    return [[toned(Run(safe(run.text), run.tone), tone) for run in line] for line in lines_of(inline)]


def _width(line: TextLine) -> int:
    return sum(width_of(run.text) for run in line)


def _blanks(count: int) -> TextLine:
    return [Run(" " * count)] if count > 0 else []


# Without wrapping: lines, or None where there is no room for them.


def _laid_out(block: Block, width: int | None) -> list[TextLine] | None:
    if isinstance(block, Gap):
        return [[]]
    if isinstance(block, TableBlock):
        return _rows(block, width)
    if isinstance(block, Facts):
        return _facts(block, width)
    block = _marked(block)
    tone = Tone.HEAD if block.kind in _HEADS else Tone.PLAIN
    first, *others = _safe_lines(block.inline, tone)
    found = [_blanks(block.indent) + first, *(_blanks(block.indent + block.hang) + line for line in others)]
    return found if block.kind is ParagraphKind.CODE else _fitting(found, width)


def _marked(block: Paragraph) -> Paragraph:
    """An item of a list with its mark, and its further lines behind that."""
    if block.kind is not ParagraphKind.ITEM:
        return block
    return block._replace(inline=joined(_ITEM, block.inline), hang=block.hang + len(_ITEM))


_ITEM = "- "


def _fitting(lines: list[TextLine], width: int | None) -> list[TextLine] | None:
    return lines if width is None or all(_width(line) <= width for line in lines) else None


def _facts(block: Facts, width: int | None) -> list[TextLine] | None:
    rows = [(_label(row, block.tone), _safe_lines(row.inline)) for row in block.rows]
    room = max((_width(label) for label, _ in rows), default=0)
    found = []
    for label, texts in rows:
        for position, line in enumerate(texts):
            head = [] if position else label
            found.append([*_blanks(block.indent), *head, *_blanks(room - _width(head) + GAP), *line])
    return _fitting(found, width)


def _label(fact: Fact, tone: Tone) -> TextLine:
    return _safe_lines(fact.label, tone)[0]


def _rows(table: TableBlock, width: int | None) -> list[TextLine] | None:  # type: ignore[type-arg]
    full = _aligned(cells_of(table), table.indent)
    if width is None or _fitting(full, width) is not None:
        return full
    note = [[], *_safe_lines(table.narrow_note)] if runs_of(table.narrow_note) else []
    for stacked in (False, True):
        lines = [*_aligned(cells_of(table, short=True, stacked=stacked), table.indent), *note]
        if _fitting(lines, width) is not None:
            return lines
    return None


def _aligned(grid: ShownCells, indent: int) -> list[TextLine]:
    """Every cell as wide as its column, the headers first."""
    cells = [[_safe_lines(column.header, Tone.HEAD) for column in grid.columns]]
    cells += [[_safe_lines(cell) for cell in row] for row in grid.rows]
    widths = [max(_width(line) for cell in column for line in cell) for column in zip(*cells, strict=True)]
    found = []
    for row in cells:
        for parts in zip_longest(*row, fillvalue=[]):
            line = _blanks(indent)
            for position, (part, width, column) in enumerate(zip(parts, widths, grid.columns, strict=True)):
                rest = _blanks(width - _width(part))
                line += _blanks(GAP) if position else []
                line += [*rest, *part] if column.right else [*part, *rest]
            found.append(line)
    return found


# With rich: colours, and wrapping.


def _by_rich(renderables: Iterable[RenderableType], style: Style, wraps: bool) -> str:
    from rich.console import Console

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
    from dispatch_cli.render.placed_text import BLANK

    found = buffer.getvalue().replace(BLANK, " ")
    return found if style.color else "\n".join(line.rstrip() for line in found.split("\n"))


def _rich(line: Sequence[Run]) -> Text:
    from dispatch_cli.render.placed_text import BLANK, PlacedText

    texts = ((run.text.replace(" ", BLANK) if run.tone is Tone.PLACE else run.text, LOOKS[run.tone]) for run in line)
    found = PlacedText.assemble(*texts)
    found.rstrip()
    return found


def _rich_lines(lines: Iterable[TextLine]) -> Text:
    from rich.text import Text

    from dispatch_cli.render.placed_text import PlacedText

    return PlacedText().append_text(Text("\n").join(map(_rich, lines)))


def _wrapping(block: Block, style: Style) -> Iterator[RenderableType]:
    """A block that has no room, for rich to wrap."""
    if isinstance(block, TableBlock):
        yield from _wrapping_rows(block, style)
        if runs_of(block.narrow_note):
            yield _rich_lines([[], *_safe_lines(block.narrow_note)])
    elif isinstance(block, Facts):
        yield from _wrapping_facts(block, style)
    elif isinstance(block, Paragraph):
        block = _marked(block)
        tone = Tone.HEAD if block.kind in _HEADS else Tone.PLAIN
        yield from _hanging(_rich_lines(_safe_lines(block.inline, tone)), block.indent, block.hang, style)


def _hanging(found: Text, indent: int, hang: int, style: Style) -> Iterator[RenderableType]:
    """A text whose first line stands at *indent*, and its further lines *hang* behind it."""
    from rich.console import Console

    from dispatch_cli.render.placed_text import shortened

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
    from rich.padding import Padding

    return Padding(renderable, (0, 0, 0, indent)) if indent else renderable


def _wrapping_facts(block: Facts, style: Style) -> Iterator[RenderableType]:
    from rich.table import Table as RichTable

    rows = [(_rich(_label(row, block.tone)), _rich_lines(_safe_lines(row.inline))) for row in block.rows]
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
    from rich.table import Table as RichTable

    grid = cells_of(table, short=True, stacked=True)
    keep = _unwrapped(grid, (style.width or UNLIMITED) - table.indent)
    if keep is None:
        yield from _cards(grid, table.indent, style)
        return
    found = RichTable(box=None, padding=(0, GAP, 0, 0), pad_edge=False, show_edge=False)
    for column, kept in zip(grid.columns, keep, strict=True):
        header = _rich_lines(_safe_lines(column.header, Tone.HEAD))
        found.add_column(header, justify="right" if column.right else "left", overflow="fold", no_wrap=kept)
    for row in grid.rows:
        found.add_row(*(_wrapping_cell(_safe_lines(cell)) for cell in row))
    yield _indented(found, table.indent)


def _cards(grid: ShownCells, indent: int, style: Style) -> Iterator[RenderableType]:
    """Each row as facts, where the columns have no room beside each other."""
    for row in grid.rows:
        facts = Facts(
            [Fact(column.header, cell) for column, cell in zip(grid.columns, row, strict=True) if cell], indent
        )
        lines = _facts(facts, style.width)
        yield from _wrapping_facts(facts, style) if lines is None else (_rich_lines(lines),)
        yield _rich([])


def _wrapping_cell(lines: list[TextLine]) -> RenderableType:
    """A cell; lines that stand below another's keep their indent when they are wrapped."""
    if all(line[:1] != [BELOW] for line in lines):
        return _rich_lines(lines)
    from rich.console import Group

    return Group(*(_indented(_rich(line[1:]), UNDER) if line[:1] == [BELOW] else _rich(line) for line in lines))


MIN_WRAPPED, LEAST = 20, 8
"""Columns that the cells that wrap should have; with less all cells wrap, and below the least a row is no row."""


def _unwrapped(grid: ShownCells, room: int) -> list[bool] | None:
    """For each column, whether its cells stay whole; None where the columns have no room at all."""
    widest = [
        max(
            [width_of(safe(column.header)), *(_width(line) for row in grid.rows for line in _safe_lines(row[position]))]
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
