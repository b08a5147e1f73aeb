"""An answer as a document: a few kinds of blocks that every writer can write.

A function per answer turns its report into blocks; a writer per format (`text`, `markdown`, `html`) writes any blocks.
Blocks hold text as it is, from files too: each writer makes it safe for its own format. Nothing here knows a format.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Generic, NamedTuple, TypeVar

Row = TypeVar("Row")


class Tone(Enum):
    """What a piece of text is; each writer has its own look for it."""

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
    """How a paragraph is set.

    TITLE: the name of what the answer is about. SECTION: the head of a part of it.
    CODE: lines that stay as they are: a terminal does not wrap them, blanks count.
    QUOTE: words of others, such as the text of PyTorch's error. ITEM: one of a list.
    """

    PROSE = "prose"
    TITLE = "title"
    SECTION = "section"
    CODE = "code"
    QUOTE = "quote"
    ITEM = "item"


class Paragraph(NamedTuple):
    """A piece of prose. indent: blanks before it in a terminal; hang: more of them before its further lines."""

    inline: Inline
    indent: int = 0
    hang: int = 0
    kind: ParagraphKind = ParagraphKind.PROSE


class Gap(NamedTuple):
    """The distance between two parts of an answer: an empty line in a terminal."""


class Fact(NamedTuple):
    """A label, and what there is to say of it."""

    label: Inline
    inline: Inline


class Facts(NamedTuple):
    """Facts below each other, their texts in one column. tone: of the labels that have none."""

    rows: Sequence[Fact]
    indent: int = 0
    tone: Tone = Tone.HEAD


class Under(NamedTuple):
    """Where the short cells have no room beside each other, a column's stands below that of *header*, in its row."""

    header: str


class Narrow(Enum):
    """What becomes of a column where there is little room."""

    KEEP = "keep"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Column(Generic[Row]):
    """A column of a table.

    cell: the text for a row; its second argument asks for the short form, for where there is little room.
    narrow: what happens to the column there. optional: it is dropped if all of its cells are empty.
    wraps: its cells may be broken into lines. right: they are set to the right; such cells never wrap.
    """

    header: str
    cell: Callable[[Row, bool], Inline]
    narrow: Narrow | Under = Narrow.KEEP
    optional: bool = False
    wraps: bool = True
    right: bool = False


@dataclass(frozen=True, slots=True)
class TableBlock(Generic[Row]):
    """Rows of one shape. The writer chooses between the full and the short cells.

    narrow_note: a text below the rows where these are short.
    """

    columns: Sequence[Column[Row]]
    rows: Sequence[Row]
    indent: int = 0
    narrow_note: Inline = ""


Block = Paragraph | Gap | Facts | TableBlock  # type: ignore[type-arg]


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
    found: list[list[Run]] = [[]]
    for run in runs_of(inline):
        if run.breaks:
            found.append([])
        found[-1].append(run)
    return [tuple(line) for line in found]


def lines(*texts: str, tone: Tone = Tone.PLAIN) -> tuple[Run, ...]:
    """Texts below each other, as one inline text."""
    return tuple(Run(text, tone, breaks=position > 0) for position, text in enumerate(texts))


def joined(*parts: Inline) -> tuple[Run, ...]:
    """Inline texts one after the other."""
    return tuple(run for part in parts for run in runs_of(part))


Cells = list[tuple[Run, ...]]
"""The cells of a row, each as runs."""


class ShownCells(NamedTuple):
    """A table's cells as they are shown: the columns that are left, and a cell for each in every row."""

    columns: Sequence[Column]  # type: ignore[type-arg]
    rows: list[Cells]


UNDER = 2
"""Blanks before a cell that stands below another."""


def cells_of(table: TableBlock[Row], short: bool = False, stacked: bool = False) -> ShownCells:
    """The cells of a table, without optional columns that are empty.

    short: as where there is little room. stacked: as where there is so little that cells stand below others.
    """
    whole = [[runs_of(column.cell(row, short)) for column in table.columns] for row in table.rows]
    shown: list[int] = []
    below: list[tuple[int, str]] = []
    for position, column in enumerate(table.columns):
        if column.optional and not any(cells[position] for cells in whole):
            continue
        if stacked and isinstance(column.narrow, Under):
            below.append((position, column.narrow.header))
        elif not short or column.narrow is not Narrow.DROP:
            shown.append(position)
    columns = [table.columns[position] for position in shown]
    rows = [[cells[position] for position in shown] for cells in whole]
    headers = [column.header for column in columns]
    for position, header in below:
        at = headers.index(header)
        for cells, row in zip(whole, rows, strict=True):
            if runs := cells[position]:
                row[at] = (*row[at], Run(" " * UNDER, breaks=True), *runs)
    return ShownCells(columns, rows)
