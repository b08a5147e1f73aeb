"""Rows of a table in columns that are never wider than the view: what has no room is short, left out, or cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from dispatch_cli.explore.cells_view import ShownKeys, Target
from dispatch_cli.render.document import Column, Inline, Narrow, Run, TableBlock, Tone, Under, runs_of
from dispatch_cli.render.shares import LEAST, shared
from dispatch_cli.render.text_lines import GAP, TextLine, beside, line_width, shown_lines, width_of
from dispatch_cli.render.text_list import cut
from dispatch_cli.render.words import keys_label

_INDENT = 4


class LaidOut(NamedTuple):
    """Rows that are laid out below their header."""

    header: TextLine
    lines: list[TextLine]
    targets: list[Target]


def laid_out(
    columns: Sequence[Column[Any]],
    rows: Sequence[Any],
    width: int,
    places: Sequence[ShownKeys],
    marks: Sequence[str] = (),
    head: str = "Key",
) -> LaidOut:
    """Rows below their header, the keys with their marks first; cells that have no room are cut.

    places: what each row shows. marks: of each, if any has some.
    """
    room = max(map(len, marks), default=0)
    labels = {
        id(row): (Run(f"{mark:<{room}} " if room else "", Tone.WARN), place)
        for row, place, mark in zip(rows, places, marks or [""] * len(rows), strict=True)
    }

    def key(row: Any, short: bool) -> Inline:
        mark, place = labels[id(row)]
        return (mark, Run(keys_label(place.keys, short)))

    columns = [*_without_under([Column(head, key), *columns], rows)]
    chosen, cells, widths = _fitting(columns, rows, width)
    right = [column.right for column in chosen]
    header = _header(chosen, widths)
    lines: list[TextLine] = []
    targets = []
    for place, row in zip(places, cells, strict=True):
        if line_width(row[0][0]) > widths[0] and len(place.keys) > 1:
            row[0][0][1:] = shown_lines(_fewer_keys(place.keys, widths[0] - line_width(row[0][0][:1])))[0]
        fitted = [[cut_inside(cell[0], room)] for cell, room in zip(row, widths, strict=True)]
        first = len(lines)
        lines += beside(fitted, widths, right, 0)
        for at, cell in enumerate(row):
            x = sum(widths[:at]) + GAP * at if at else _INDENT
            for line in cell[1:]:  # below its column, or where it has no room there, below the key
                indent = x if x + line_width(line) <= width else min(x, _INDENT)
                room = width - indent
                pieces = [cut_inside(line, room)] if at or line_width(line) <= room else _flowing(line, room)
                lines += ([Run(" " * indent), *piece] for piece in pieces)
        targets.append(Target(place, first, len(lines)))
    return LaidOut(header, lines, targets)


def _fewer_keys(keys: Sequence[str], width: int) -> str:
    """Keys where there is no room for the first and the last one: the first, and how many they are."""
    first, count = keys[0], f" … ({len(keys)})"
    room = width - len(count) - 1
    if room < len(first) - 1:
        end = max(0, (room * 3 + 4) // 5)
        first = f"{first[: max(0, room - end)]}…{first[len(first) - end :]}"
    return f"{first}{count}"


def laid_out_rows(table: TableBlock[Any], width: int) -> list[tuple[Any, list[TextLine]]]:
    """A table with a line for each row, below its header; cells that have no room are cut."""
    columns, cells, widths = _fitting(table.columns, table.rows, width)
    right = [column.right for column in columns]
    rows: list[tuple[Any, list[TextLine]]] = [(None, [_header(columns, widths)])]
    for row, line in zip(table.rows, cells, strict=True):
        fitted = [[cut_inside(cell[0], room)] for cell, room in zip(line, widths, strict=True)]
        rows.append((row, beside(fitted, widths, right, table.indent)))
    return rows


def _header(columns: Sequence[Column[Any]], widths: Sequence[int]) -> TextLine:
    heads = zip(columns, widths, strict=True)
    names = [[cut([Run(column.header, Tone.HEAD)], room)] for column, room in heads]
    return beside(names, widths, [column.right for column in columns], 0)[0]


def _without_under(columns: Sequence[Column[Any]], rows: Sequence[Any]) -> Iterator[Column[Any]]:
    """The columns; those that can stand below another's cells do, and those that are empty are left out."""
    below: dict[str, list[Column[Any]]] = {}
    for column in columns:
        if isinstance(column.narrow, Under) and any(runs_of(column.cell(row, True)) for row in rows):
            below.setdefault(column.narrow.header, []).append(column)
    for column in columns:
        if isinstance(column.narrow, Under):
            continue
        if column.optional and not any(runs_of(column.cell(row, False)) for row in rows):
            continue
        added = below.get(column.header)
        yield column if added is None else replace(column, cell=_with(column, added))


def _with(column: Column[Any], added: Sequence[Column[Any]]) -> Callable[[Any, bool], Inline]:
    def cell(row: Any, short: bool) -> Inline:
        runs = runs_of(column.cell(row, short))
        for extra in added:
            first, *rest = runs_of(extra.cell(row, True)) or (None,)
            if first is not None:
                runs = (*runs, first._replace(breaks=True), *rest)
        return runs

    return cell


_Cell = list[TextLine]


def _fitting(
    columns: Sequence[Column[Any]], rows: Sequence[Any], width: int
) -> tuple[Sequence[Column[Any]], list[list[_Cell]], list[int]]:
    """The columns that there is room for, the cells, and the widths; the cells are short where that is needed."""
    for short in (False, True):
        cells = [[shown_lines(column.cell(row, short)) for column in columns] for row in rows]
        wishes = [
            max([width_of(column.header), *(line_width(row[at][0]) for row in cells)])
            for at, column in enumerate(columns)
        ]
        if sum(wishes) + GAP * (len(wishes) - 1) <= width:
            return columns, cells, wishes
    left = [*range(len(columns))]
    for narrow in (Narrow.DROP, Narrow.BELOW):
        for at in reversed(range(len(columns))):
            if sum(wishes[number] + GAP for number in left) - GAP > width and columns[at].narrow is narrow:
                left.remove(at)
    chosen, wishes = [columns[at] for at in left], [wishes[at] for at in left]
    floors = [min(wish, LEAST if at else width * 9 // 20) for at, wish in enumerate(wishes)]
    widths = shared(wishes, floors, width - GAP * (len(wishes) - 1))
    return chosen, [[row[at] for at in left] for row in cells], floors if widths is None else widths


def cut_inside(line: TextLine, width: int) -> TextLine:
    """A line that is at most so wide. Of a text that ends in a number, as places do, the end stays, too."""
    excess = line_width(line) - width
    if excess <= 0:
        return line
    at = max(range(len(line)), key=lambda number: len(line[number].text))
    text = line[at].text
    room = len(text) - excess - 1
    if room < LEAST or not text.isascii() or not text[-1:].isdigit():
        return cut(line, width)
    end = (room * 3 + 4) // 5
    return [*line[:at], line[at]._replace(text=f"{text[: room - end]}…{text[len(text) - end :]}"), *line[at + 1 :]]


def flow(inline: Inline, width: int, tone: Tone = Tone.PLAIN) -> list[TextLine]:
    """A text in lines that are not wider, broken at blanks where there are some."""
    lines: list[TextLine] = []
    for shown in shown_lines(inline, tone):
        if line_width(shown) <= width:
            lines.append(shown)
        else:
            lines += _flowing(shown, width)
    return lines


def _flowing(shown: TextLine, width: int) -> Iterator[TextLine]:
    line: TextLine = []
    used = 0
    for run in shown:
        for word, blanks in _WORDS.findall(run.text):
            if used and used + width_of(word) > width:
                yield line
                line, used = [], 0
            *wholes, end = [*_pieces(word, width)] or [""]
            yield from ([run._replace(text=piece)] for piece in wholes)
            text = end + blanks[: max(0, width - used - width_of(end))]
            if text:
                line.append(run._replace(text=text))
                used += width_of(text)
    if line:
        yield line


def _pieces(word: str, width: int) -> Iterator[str]:
    """A word in pieces that are not wider; a character that is wider itself is a piece."""
    start = 0
    while start < len(word):
        end = start + width
        while end > start + 1 and width_of(word[start:end]) > width:
            end -= 1
        yield word[start:end]
        start = end


_WORDS = re.compile(r"(\S*)(\s*)")
"""A word, and the blanks behind it."""
