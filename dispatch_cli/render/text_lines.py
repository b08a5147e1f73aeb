"""Blocks as lines of a terminal, where they fit its width as they are; nothing is wrapped here."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

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

GAP = 2
"""Blanks between columns."""
LEAST = 8
"""Columns that a cell that wraps has at least; with less a row is no row."""
BELOW = Run(" " * UNDER)
"""Start of a line that stands below another in its cell."""
HEADS = (ParagraphKind.TITLE, ParagraphKind.SECTION)

TextLine = list[Run]
"""A line that is laid out. Its runs are safe to print, and do not break."""


class Part(NamedTuple):
    """Lines of a block that belong together.

    item: the paragraph, the fact or the row of a table that they show; None for headers, notes and gaps.
    """

    item: object
    lines: list[TextLine]


class Style(NamedTuple):
    """width: in columns, None where nothing limits it. color: whether in colour. height: in lines, of a terminal."""

    width: int | None = None
    color: bool = False
    height: int | None = None


def width_of(text: str) -> int:
    """Columns that a text takes. Rich's tables of wide characters are asked only where there may be one."""
    if text.replace("…", ".").replace("·", ".").isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shown_lines(inline: Inline, tone: Tone = Tone.PLAIN) -> list[TextLine]:
    """Lines that are safe to print. tone: of the runs that have none."""
    return [[toned(Run(safe(run.text), run.tone), tone) for run in line] for line in lines_of(inline)]


def line_width(line: TextLine) -> int:
    """Columns that a line takes."""
    return sum(width_of(run.text) for run in line)


def blanks(count: int) -> TextLine:
    """Run of *count* blanks; none where it is negative."""
    return [Run(" " * count)] if count > 0 else []


def laid_out_parts(block: Block, width: int | None) -> list[Part] | None:
    """A block without wrapping, in parts; None where there is no room for it."""
    if isinstance(block, Gap):
        return [Part(None, [[]])]
    if isinstance(block, TableBlock):
        return _rows(block, width)
    if isinstance(block, Facts):
        return facts_lines(block, width)
    assert isinstance(block, Paragraph), "a matrix is written as paragraphs"
    shown, (first, *others) = paragraph_lines(block)
    is_code = shown.kind is ParagraphKind.CODE
    further = shown.indent + (0 if is_code else shown.hang)
    parts = [Part(block, [blanks(shown.indent) + first, *(blanks(further) + line for line in others)])]
    return parts if is_code and not shown.hang else _fitting(parts, width)


def paragraph_lines(block: Paragraph) -> tuple[Paragraph, list[TextLine]]:
    """A paragraph, an item of a list with its mark, and its lines."""
    if block.kind is ParagraphKind.ITEM:
        block = block._replace(inline=joined(_ITEM, block.inline), hang=block.hang + len(_ITEM))
    return block, shown_lines(block.inline, Tone.HEAD if block.kind in HEADS else Tone.PLAIN)


_ITEM = "- "


def _fitting(parts: list[Part], width: int | None) -> list[Part] | None:
    if width is None or all(line_width(line) <= width for part in parts for line in part.lines):
        return parts
    return None


def facts_lines(block: Facts, width: int | None) -> list[Part] | None:
    """Labels and texts side by side; None where there is no room for it."""
    rows = [(label_line(row, block.tone), shown_lines(row.inline)) for row in block.rows]
    room = max((line_width(label) for label, _ in rows), default=0)
    parts = []
    for fact, (label, texts) in zip(block.rows, rows, strict=True):
        part = Part(fact, [])
        for position, line in enumerate(texts):
            head = [] if position else label
            part.lines.append([*blanks(block.indent), *head, *blanks(room - line_width(head) + GAP), *line])
        parts.append(part)
    return _fitting(parts, width)


def label_line(fact: Fact, tone: Tone) -> TextLine:
    """The label of a fact. tone: of the runs that have none."""
    return shown_lines(fact.label, tone)[0]


def _rows(table: TableBlock, width: int | None) -> list[Part] | None:  # type: ignore[type-arg]
    full = _fitting(_aligned(cells_of(table), table), width)
    if full is not None:
        return full
    note = [[], *shown_lines(table.narrow_note)] if runs_of(table.narrow_note) else []
    return _fitting([*_aligned(cells_of(table, short=True), table), Part(None, note)], width)


def _aligned(grid: ShownCells, table: TableBlock) -> list[Part]:  # type: ignore[type-arg]
    """Every cell as wide as its column, the headers first."""
    cells = [[shown_lines(column.header, Tone.HEAD) for column in grid.columns]]
    cells += [_without_lastblanks(grid, [shown_lines(cell) for cell in row]) for row in grid.rows]
    whole = [row for row in cells if len(row) == len(grid.columns)]
    widths = [max(line_width(line) for cell in column for line in cell) for column in zip(*whole, strict=True)]
    right = [column.right for column in grid.columns]
    parts = []
    for item, row in zip((None, *table.rows), cells, strict=True):
        parts.append(Part(item, beside(row, widths[: len(row)], right[: len(row)], table.indent)))
    return parts


def _without_lastblanks(grid: ShownCells, cells: list[list[TextLine]]) -> list[list[TextLine]]:
    """The cells of a row up to the last one that has a text, if that may be wider than its column."""
    last = max((at for at, cell in enumerate(cells) if any(cell)), default=0)
    return cells[: last + 1] if grid.columns[last].overflows else cells


def beside(
    cells: Sequence[list[TextLine]], widths: Sequence[int], right: Sequence[bool], indent: int = 0
) -> list[TextLine]:
    """The cells of a row, each as wide as its column. right: whether a column is set to the right."""
    lines = []
    for parts in zip_longest(*cells, fillvalue=[]):
        line = blanks(indent)
        for position, (part, width) in enumerate(zip(parts, widths, strict=True)):
            rest = blanks(width - line_width(part))
            line += blanks(GAP) if position else []
            line += [*rest, *part] if right[position] else [*part, *rest]
        lines.append(line)
    return lines


def shared(wishes: Sequence[int], floors: Sequence[int], room: int) -> list[int] | None:
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
