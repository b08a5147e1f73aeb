"""A table as a list: one line for each row, made when it is looked at. For tables of thousands of rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from dispatch_cli.render.document import Column, Inline, Narrow, Run, TableBlock, Tone, Under, lines_of, runs_of
from dispatch_cli.render.text_lines import (
    GAP,
    LEAST,
    Part,
    TextLine,
    beside,
    blanks,
    line_width,
    shared,
    shown_lines,
    width_of,
)

_CUT = "…"
_END_OF_RUN = re.compile(r" … \S+(?P<count> \([\d,]+(?: keys)?\))$")
"""The last of a run of keys and their count, ``CUDA … Meta (14 keys)``."""


class ListLayout(NamedTuple):
    """The columns that a list shows, their widths, and whether its cells are short."""

    columns: Sequence[Column[Any]]
    widths: Sequence[int]
    short: bool

    def header(self) -> TextLine:
        """The line above the rows."""
        names = (column.short_header if self.short else "" for column in self.columns)
        heads = [name or column.header for name, column in zip(names, self.columns, strict=True)]
        return self._line([[Run(head, Tone.HEAD)] for head in heads])

    def line(self, row: Any) -> TextLine:
        """A row; cells that have no room are cut."""
        return self._line([_one_line(column.cell(row, self.short)) for column in self.columns])

    def _line(self, cells: Sequence[TextLine]) -> TextLine:
        lines = [[cut(cell, width)] for cell, width in zip(cells, self.widths, strict=True)]
        return beside(lines, self.widths, [column.right for column in self.columns])[0]


def list_layout(table: TableBlock[Any], room: int) -> ListLayout:
    """Layout with which a list of these rows has room.

    Where it has none, cells are short, then the columns are left out that a table would drop or put below its rows, the
    last first; then the widest cells are cut.
    """
    columns = [
        column
        for column in table.columns
        if not column.optional or any(runs_of(column.cell(row, False)) for row in table.rows)
    ]
    for short in (False, True):
        wishes = [_widest(column, table.rows, short) for column in columns]
        if _taken(wishes) <= room:
            return ListLayout(columns, wishes, short)
    while _taken(wishes) > room and (left_out := _next_left_out(columns)) is not None:
        del columns[left_out], wishes[left_out]
    # the first column has the names, which are of no use when little is left of them
    floors = [min(wish, LEAST if at else max(LEAST, room * 2 // 5)) for at, wish in enumerate(wishes)]
    widths = shared(wishes, floors, room - GAP * (len(wishes) - 1))
    return ListLayout(columns, floors if widths is None else widths, True)


def list_parts(table: TableBlock[Any], width: int) -> list[Part]:
    """A table in which no cell is wrapped: each row is a line as in a list.

    Below it stand the further lines of its cells, and the columns that can stand under others.
    """
    under = [column for column in table.columns if isinstance(column.narrow, Under)]
    beside_each_other = [column for column in table.columns if column not in under]
    columns = [replace(column, cell=partial(_first_line, column)) for column in beside_each_other]
    listed = list_layout(replace(table, columns=columns), width)
    parts = [Part(None, [listed.header()])]
    for row in table.rows:
        further = [line for column in beside_each_other for line in _lines(column.cell(row, True))[1:]]
        further += (line for column in under for line in _lines(column.cell(row, True)))
        below = (cut([*blanks(2 * GAP), *line], width) for inline in further for line in shown_lines(inline) if line)
        parts.append(Part(row, [listed.line(row), *below]))
    return parts


def _first_line(column: Column[Any], row: Any, short: bool) -> Inline:
    return _lines(column.cell(row, short))[0]


def _lines(cell: Inline) -> Sequence[Inline]:
    return lines_of(cell) if isinstance(cell, tuple) else (cell,)


def _next_left_out(columns: Sequence[Column[Any]]) -> int | None:
    """The column that is left out next."""
    for dropped in (True, False):
        for at in reversed(range(len(columns))):
            if columns[at].narrow is (Narrow.DROP if dropped else Narrow.BELOW):
                return at
    return None


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def _widest(column: Column[Any], rows: Sequence[Any], short: bool) -> int:
    header = (short and column.short_header) or column.header
    return max([width_of(header), *(line_width(_one_line(column.cell(row, short))) for row in rows)])


def _one_line(cell: Inline) -> TextLine:
    """A cell on one line."""
    first, *others = shown_lines(cell)
    for line in others:
        first += [Run(" "), *line]
    return first


def cut(line: TextLine, width: int) -> TextLine:
    """A line that is at most so wide. Of a place the end stays, of a name both ends, of other texts the start.

    Of a run of keys the first one stays, and the count.
    """
    if line_width(line) <= width:
        return line
    if (match := _END_OF_RUN.search(line[-1].text)) and width > 2 * len(match["count"]):
        keys = line[-1]._replace(text=f"{line[-1].text[: match.start()]} {_CUT}")
        return [*cut([*line[:-1], keys], width - len(match["count"])), keys._replace(text=match["count"])]
    room = max(0, width - len(_CUT))
    if line[-1].tone is Tone.PLACE:
        first = 0
    elif _is_name(line):
        first = room - room // 2
    else:
        first = room
    start, end = _start(line, first), _start([*_turned(line)], room - first)
    tone = start[-1].tone if start else end[-1].tone if end else Tone.PLAIN
    return [*start, Run(_CUT, tone), *_turned(end)]


def _is_name(line: TextLine) -> bool:
    return len(line) == 1 and " " not in line[0].text and line[0].tone is not Tone.PLACE


def _turned(line: TextLine) -> TextLine:
    """A line from its end to its start."""
    return [run._replace(text=run.text[::-1]) for run in reversed(line)]


def _start(line: TextLine, width: int) -> TextLine:
    """The start of a line, exactly so wide."""
    from rich.cells import set_cell_size

    kept: TextLine = []
    for run in line:
        taken = min(width, width_of(run.text))
        if taken:
            kept.append(run._replace(text=run.text if taken == width_of(run.text) else set_cell_size(run.text, taken)))
        width -= taken
    return kept
