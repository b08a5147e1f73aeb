"""An answer as a document: a few kinds of blocks that every writer can write.

A function per answer turns its report into blocks; a writer per format (`text`, `markdown`, `html`) writes any blocks.
`svg` draws those that are pictures.
Blocks hold text as it is, from files too: each writer makes it safe for its own format. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Tone(Enum):
    """Role of a piece of text; each writer has its own look for it."""

    PLAIN = "plain"
    HEAD = "head"
    KERNEL = "kernel"
    ALIAS = "alias"
    FALLBACK = "fallback"
    WARN = "warn"
    BAD = "bad"
    DIM = "dim"
    PLACE = "place"


class Run(NamedTuple):
    """A piece of text in one tone. breaks: it begins a new line; line breaks inside of *text* are not followed."""

    text: str
    tone: Tone = Tone.PLAIN
    breaks: bool = False


Inline = str | Run | tuple[Run, ...]
"""Text in a paragraph, a fact or a cell; a bare text is plain."""


class ParagraphKind(Enum):
    """Role of a paragraph.

    TITLE: the name of what the answer is about. SECTION: the head of a part of it.
    CODE: lines that stay as they are: blanks count, and they are not broken, so that they can be copied.
    QUOTE: words of others, such as the text of PyTorch's error. ITEM: one of a list.
    """

    PROSE = "prose"
    TITLE = "title"
    SECTION = "section"
    CODE = "code"
    QUOTE = "quote"
    ITEM = "item"


HEADS = (ParagraphKind.TITLE, ParagraphKind.SECTION)


class Paragraph(NamedTuple):
    """A piece of prose. indent: blanks before it in a terminal; hang: more of them before its further lines.

    is_verdict: it answers the question; below an answer that is higher than the terminal it is shown once more.
    link: what it opens in a viewer, such as a place in a file; None for nothing.
    """

    inline: Inline
    indent: int = 0
    hang: int = 0
    kind: ParagraphKind = ParagraphKind.PROSE
    is_verdict: bool = False
    link: object = None


class Gap(NamedTuple):
    """The distance between two parts of an answer: an empty line in a terminal."""


class Fact(NamedTuple):
    """A label, and what there is to say of it. link: as of `Paragraph`."""

    label: Inline
    inline: Inline
    link: object = None


class Facts(NamedTuple):
    """Facts below each other, their texts in one column. tone: of the labels that have none."""

    rows: Sequence[Fact]
    indent: int = 0
    tone: Tone = Tone.HEAD


class Under(NamedTuple):
    """Placement of a column's cells below those of *header* where even short cells have no room side by side."""

    header: str


class Narrow(Enum):
    """Treatment of a column where there is little room.

    BELOW: its cells stand on lines of their own, below their rows.
    """

    KEEP = "keep"
    DROP = "drop"
    BELOW = "below"


# Nobody compares or prints columns: `eq` and `repr` would only cost time while this is imported.
@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Column(Generic[Row]):
    """A column of a table.

    cell: the text for a row; its second argument asks for the short form, for where there is little room.
    narrow: what happens to the column there. optional: it is dropped if all of its cells are empty.
    wraps: its cells may be broken into lines. right: they are set to the right; such cells never wrap.
    short_header: the header where there is little room, if it is another. overflows: a cell beside which nothing stands
    does not make its column wider.
    """

    header: str
    cell: Callable[[Row, bool], Inline]
    narrow: Narrow | Under = Narrow.KEEP
    optional: bool = False
    wraps: bool = True
    right: bool = False
    short_header: str = ""
    overflows: bool = False


# Nobody compares or prints blocks: `eq` and `repr` would only cost time while this is imported.
@dataclass(frozen=True, eq=False, slots=True, repr=False)
class TableBlock(Generic[Row]):
    """Rows of one shape. The writer chooses between the full and the short cells.

    narrow_note: a text below the rows where these are short.
    """

    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    indent: int = 0
    narrow_note: Inline = ""


class Mark(NamedTuple):
    """Mark in a cell of a matrix: a few characters in a tone, and their meaning."""

    text: str
    tone: Tone = Tone.PLAIN
    meaning: str = ""


class MatrixCell(NamedTuple):
    """A cell of a matrix. title: what there is to say of it alone, in words. target: what opens it, for a viewer."""

    marks: tuple[Mark, ...] = ()
    title: str = ""
    target: object = None


class MatrixHead(NamedTuple):
    """The head of a column of a matrix. short: for where there is little room; nothing leaves that to the writer.

    group: what it has in common with its neighbours, which stands above them all.
    """

    name: str
    short: str = ""
    group: str = ""


class MatrixRow(NamedTuple):
    """A row of a matrix: its label, and a cell for each column."""

    label: str
    cells: Sequence[MatrixCell]


class Matrix(NamedTuple):
    """A picture: rows and columns of marks.

    corner: what the labels of the rows are. explained: the marks of which the writer says what they mean; None for
    those that are used. A picture, which stands alone, explains these at least.
    """

    heads: Sequence[MatrixHead]
    rows: Sequence[MatrixRow]
    corner: str = ""
    explained: Sequence[Mark] | None = None

    @property
    def legend(self) -> Sequence[Mark]:
        """The marks that are explained."""
        return self.used if self.explained is None else self.explained

    @property
    def used(self) -> list[Mark]:
        """The marks that have a meaning, each once."""
        used = (mark for row in self.rows for cell in row.cells for mark in cell.marks if mark.meaning)
        return [*dict.fromkeys(used)]

    @property
    def groups(self) -> list[tuple[str, int]]:
        """The groups of columns, each with the number of its columns."""
        return [(group, len([*heads])) for group, heads in groupby(self.heads, key=lambda head: head.group)]


class DrawnRow(NamedTuple):
    """A box and what stands beside it. text: of the box; an empty one is a heading in the place of a box."""

    text: str
    beside: str
    tone: Tone = Tone.DIM


class DrawnArrow(NamedTuple):
    """An arrow between two rows, by their numbers. title: what it means."""

    start: int
    end: int
    title: str


class DrawnPath(NamedTuple):
    """A picture of a way. title: what goes there."""

    rows: Sequence[DrawnRow]
    arrows: Sequence[DrawnArrow]
    title: str

    @property
    def words(self) -> str:
        """Picture in a sentence: what goes there, and the boxes that count."""
        boxes = [row.text for row in self.rows if row.text and row.tone is not Tone.DIM]
        return f"The way of {self.title}: {', then '.join(boxes)}"


class Excerpt(NamedTuple):
    """A line of a file; a writer that has no room for all of it shows the part that is underlined.

    number: of the line. start, length: what is underlined in *tone*, in characters; nothing where *length* is 0.
    """

    number: int
    line: str
    start: int
    length: int
    tone: Tone
    indent: int = 0


Block = Paragraph | Gap | Facts | TableBlock | Matrix | Excerpt  # type: ignore[type-arg]


def title_of(cell: MatrixCell) -> str:
    """A cell in words: its title, or the meaning of its marks."""
    return cell.title or ", ".join(mark.meaning for mark in cell.marks if mark.meaning)


def legend_of(matrix: Matrix) -> Iterator[Paragraph]:
    """Legend of a matrix as a text; nothing where no mark is explained."""
    if marks := matrix.legend:
        last = len(marks) - 1
        meanings = [(mark, f" {mark.meaning}{', ' if at < last else ''}") for at, mark in enumerate(marks)]
        yield Paragraph(tuple(run for mark, text in meanings for run in (Run(mark.text, mark.tone), Run(text))))


def runs_of(inline: Inline) -> tuple[Run, ...]:
    """An inline text as runs."""
    if isinstance(inline, str):
        return (Run(inline),) if inline else ()
    if isinstance(inline, Run):
        return (inline,) if inline.text else ()
    return inline


def toned(run: Run, tone: Tone) -> Run:
    """A run; in that tone, where it has none."""
    return run._replace(tone=tone) if run.tone is Tone.PLAIN else run


def lines_of(inline: Inline) -> list[tuple[Run, ...]]:
    """An inline text as lines, one at least."""
    rows: list[list[Run]] = [[]]
    for run in runs_of(inline):
        if run.breaks:
            rows.append([])
        rows[-1].append(run)
    return [tuple(line) for line in rows]


def indented(line: Sequence[Run]) -> tuple[int, Sequence[Run]]:
    """The columns by which a line is indented: the blanks of a first run that has nothing else; and what follows."""
    if line and line[0].text and not line[0].text.strip(" "):
        return len(line[0].text), line[1:]
    return 0, line


def lines(*texts: str, tone: Tone = Tone.PLAIN) -> tuple[Run, ...]:
    """Texts below each other, as one inline text."""
    return tuple(Run(text, tone, breaks=position > 0) for position, text in enumerate(texts))


def joined(*parts: Inline) -> tuple[Run, ...]:
    """Inline texts one after the other."""
    return tuple(run for part in parts for run in runs_of(part))


Cells = list[tuple[Run, ...]]
"""The cells of a row, each as runs."""


class ShownCells(NamedTuple):
    """A table's cells as they are shown: the columns that are left, and a cell for each in every row.

    below: for each row what stands below it, on lines of its own.
    """

    columns: Sequence[Column]  # type: ignore[type-arg]
    rows: list[Cells]
    below: list[Cells]


UNDER = 2
"""Blanks before a cell that stands below another."""


def stackable(table: TableBlock[Row]) -> int:
    """Number of columns that can stand below others or below the rows."""
    return sum(map(_stacks, table.columns))


def _stacks(column: Column[Row]) -> bool:
    return isinstance(column.narrow, Under) or column.narrow is Narrow.BELOW


def cells_of(table: TableBlock[Row], short: bool = False, stacked: int = 0) -> ShownCells:
    """The cells of a table, without optional columns that are empty.

    short: as where there is little room. stacked: so many of the columns that can do so, the last ones, stand below.
    """
    beside = stackable(table) - stacked
    whole = [[runs_of(column.cell(row, short)) for column in table.columns] for row in table.rows]
    shown: list[int] = []
    under: list[tuple[int, str]] = []
    below: list[int] = []
    for position, column in enumerate(table.columns):
        beside -= _stacks(column)
        if column.optional and not any(cells[position] for cells in whole):
            continue
        if beside >= 0 or not _stacks(column):
            if not short or column.narrow is not Narrow.DROP:
                shown.append(position)
        elif isinstance(column.narrow, Under):
            under.append((position, column.narrow.header))
        else:
            below.append(position)
    columns = [table.columns[position] for position in shown]
    rows = [[cells[position] for position in shown] for cells in whole]
    headers = [column.header for column in columns]
    for position, header in under:
        at = headers.index(header)
        for cells, row in zip(whole, rows, strict=True):
            for first, *rest in lines_of(cells[position]) if cells[position] else ():
                row[at] = (*row[at], Run(" " * UNDER, breaks=True), first._replace(breaks=False), *rest)
    if short:
        columns = [replace(column, header=column.short_header or column.header) for column in columns]
    for position, header in under:
        at = headers.index(header)
        columns[at] = replace(columns[at], header=f"{columns[at].header} / {table.columns[position].header}")
    return ShownCells(columns, rows, [[cells[position] for position in below if cells[position]] for cells in whole])
