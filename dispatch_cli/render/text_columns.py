"""Widths of the columns of a table where its cells are broken into lines."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.render.document import Column, Inline, ShownCells, Tone
from dispatch_cli.render.places import BLANK, COUNT, LINE, START, own_places
from dispatch_cli.render.shares import LEAST, shared
from dispatch_cli.render.text_lines import BELOW, GAP, TextLine, line_width, shown_lines, width_of
from dispatch_cli.render.text_safety import safe

MIN_WRAPPED = 18
"""Columns that the cells that wrap should have; with less all cells wrap."""


class Wraps(Enum):
    """Cells that may be broken into lines: texts at their blanks, names too, or also the cells that should not be."""

    TEXTS = 1
    NAMES = 2
    ALL = 3


class _Wish(NamedTuple):
    """Width that a column would take, and the least widths for its words and for the places in it."""

    widest: int
    words: int
    places: int


def column_widths(grid: ShownCells, room: int, wraps: Wraps) -> list[int] | None:
    """The width of each column; None where the columns have no room beside each other.

    Places of the user stay whole, and of one that no line has room for, the file, line and column. PyTorch's own are
    shortened.
    """
    wishes = [_wish(column, [row[at] for row in grid.rows], room) for at, column in enumerate(grid.columns)]
    room -= GAP * (len(wishes) - 1)
    floors = [_floor(column, wish, wraps) for column, wish in zip(grid.columns, wishes, strict=True)]
    return shared([wish.widest for wish in wishes], floors, room)


def _floor(column: Column, wish: _Wish, wraps: Wraps) -> int:  # type: ignore[type-arg]
    """The least width of a column."""
    if column.right or not (column.wraps or wraps is Wraps.ALL):
        return wish.widest
    least = LEAST if wraps is Wraps.ALL else MIN_WRAPPED
    return min(wish.widest, max(least, wish.words if wraps is Wraps.TEXTS else wish.places))


def _wish(column: Column, cells: Sequence[Inline], room: int) -> _Wish:  # type: ignore[type-arg]
    lines = [line for cell in cells for line in shown_lines(cell)]
    needs = [_needs(line, room) for line in lines]
    widest = max([width_of(safe(column.header)), *map(line_width, lines)])
    return _Wish(widest, max((words for words, _ in needs), default=0), max((place for _, place in needs), default=0))


def _needs(line: TextLine, room: int) -> tuple[int, int]:
    """The width that the words of a line need, and its places. PyTorch's own places, which are shortened, need none."""
    indent = line_width([BELOW]) if line[:1] == [BELOW] else 0
    text = "".join(run.text.replace(" ", BLANK) if run.tone is Tone.PLACE else run.text for run in line[bool(indent) :])
    if start := START.match(text):
        indent, text = start.end(), text[start.end() :]
    words = COUNT.sub(BLANK, text).split()
    own = set(own_places(text))
    places = [_place_width(place, room - indent) for place in own]
    others = [width_of(word) for word in words if word not in own and not LINE.search(word)]
    return indent + max([0, *places, *others]), indent * bool(places) + max([0, *places])


def _place_width(place: str, room: int) -> int:
    """The width of a place; of one that has no room at all, that of its end."""
    if (width := width_of(place)) <= room:
        return width
    number = LINE.search(place)
    end = number.start() if number else len(place)
    start = max(place.rfind("/", 0, end), place.rfind("\\", 0, end), 0)
    return min(room, width_of(place[start:]) + 1)
