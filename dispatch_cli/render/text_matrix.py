"""Matrices as text: heads are shortened, and the matrix is cut into parts, where the width asks for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from dispatch_cli.render.document import Block, Gap, Matrix, MatrixCell, Paragraph, ParagraphKind, Run, Tone, legend_of
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_broken import cut
from dispatch_cli.render.text_lines import TextLine, width_of

MAX_HEAD = 4
"""Columns that a head takes where its whole name has no room."""
MAX_LABEL = 0.45
"""The part of the width that labels take at most, where the columns have no room beside whole ones."""
_INITIALS = re.compile(r"[A-Z0-9]")


class PlacedCell(NamedTuple):
    """A cell, the number of its line, its first column, and how many it takes."""

    cell: MatrixCell
    line: int
    x: int
    width: int


class _Column(NamedTuple):
    """A column: its head, the width of its cells, and the blanks before them."""

    head: str
    width: int
    gap: int = 1


class TextMatrix:
    """A matrix that is laid out for a width, None for no limit.

    lines: its parts, with an empty line between two of them. cells: where each cell is.
    """

    def __init__(self, matrix: Matrix, width: int | None) -> None:
        self._matrix = matrix
        self._names = [safe(head.name) for head in matrix.heads]
        labels = [safe(row.label) for row in matrix.rows]
        self._label_width = max(map(width_of, (*labels, safe(matrix.corner))), default=0)
        self._columns = self._chosen(self._names)
        if width is not None and self._width(self._columns) > width:
            self._columns = self._chosen(self._abbreviations())
            if self._width(self._columns) > width:
                least = max(8, min(int(width * MAX_LABEL), self._label_width))
                self._label_width = max(least, min(self._label_width, width - self._width(self._columns, 0)))
        self._labels = [cut([Run(label)], self._label_width) for label in labels]
        self.lines: list[TextLine] = []
        self.cells: list[PlacedCell] = []
        for start, stop in self._parts(width):
            self._lay_out(start, stop)

    def blocks(self) -> Iterator[Block]:
        """The matrix, what its shortened heads stand for, and its legend."""
        code: list[Run] = []
        for line in self.lines:
            code += [Run("", breaks=bool(code)), *line]
        yield Paragraph(tuple(code), kind=ParagraphKind.CODE)
        pairs = dict(zip([column.head for column in self._columns], self._names, strict=True))
        shortened = [f"{head} {name}" for head, name in pairs.items() if head != name]
        if shortened:
            yield Gap()
            yield Paragraph(Run(", ".join(shortened), Tone.DIM))
        if self._matrix.legend and not shortened:
            yield Gap()
        yield from legend_of(self._matrix)

    def _chosen(self, heads: Sequence[str]) -> list[_Column]:
        """The columns below these heads; of a group, the last is as wide as the group's name asks for."""
        columns: list[_Column] = []
        for group, count in self._matrix.groups:
            own = [
                _Column(head, max(2, width_of(head), self._widest(len(columns) + at)))
                for at, head in enumerate(heads[len(columns) : len(columns) + count])
            ]
            own[0] = own[0]._replace(gap=2 if group and columns else 1)
            more = width_of(safe(group)) - sum(column.width + 1 for column in own) + 1
            own[-1] = own[-1]._replace(width=own[-1].width + max(0, more))
            columns += own
        return columns

    def _widest(self, column: int) -> int:
        return max((width_of(_text(row.cells[column])) for row in self._matrix.rows), default=0)

    def _width(self, columns: Sequence[_Column], labels: int | None = None) -> int:
        labels = self._label_width if labels is None else labels
        return labels + sum(column.gap + column.width for column in columns)

    def _abbreviations(self) -> list[str]:
        """Short heads; a head whose short form stands for another one too stays whole."""
        heads = self._matrix.heads
        taken = [safe(head.short) or _abbreviation(name) for head, name in zip(heads, self._names, strict=True)]
        means = {(short, name) for short, name in zip(taken, self._names, strict=True)}
        shared = [short for short, _ in means]
        return [short if shared.count(short) == 1 else name for short, name in zip(taken, self._names, strict=True)]

    def _parts(self, width: int | None) -> Iterator[tuple[int, int]]:
        """The parts that the width asks for: the first column, and the one behind the last; cut between groups, if
        a group has room.
        """
        start, used, at = 0, self._label_width, 0
        for _, count in self._matrix.groups:
            group = self._columns[at : at + count]
            if width is not None and start < at and used + self._width(group, 0) > width:
                yield start, at
                start, used = at, self._label_width
            for column in group:
                taken = column.gap + column.width
                if width is not None and at > start and used + taken > width:
                    yield start, at
                    start, used = at, self._label_width
                used += taken
                at += 1
        if self._columns:
            yield start, len(self._columns)

    def _lay_out(self, start: int, stop: int) -> None:
        columns = [self._columns[start]._replace(gap=1), *self._columns[start + 1 : stop]]
        if self.lines:
            self.lines.append([])
        if any(head.group for head in self._matrix.heads):
            self.lines.append(self._group_line(start, columns))
        corner = Run(_padded(safe(self._matrix.corner), self._label_width), Tone.HEAD)
        heads = "".join(" " * column.gap + _padded(column.head, column.width) for column in columns)
        self.lines.append([corner, Run(heads.rstrip(), Tone.HEAD)])
        for label, row in zip(self._labels, self._matrix.rows, strict=True):
            line = [*label, Run(" " * (self._label_width - sum(width_of(run.text) for run in label)))]
            x = self._label_width
            for column, cell in zip(columns, row.cells[start:stop], strict=True):
                x += column.gap
                self.cells.append(PlacedCell(cell, len(self.lines), x, column.width))
                runs = [Run(safe(mark.text), mark.tone) for mark in cell.marks]
                blanks = column.width - sum(width_of(run.text) for run in runs)
                line += [Run(" " * column.gap), *runs, Run(" " * blanks)]
                x += column.width
            self.lines.append(line)

    def _group_line(self, start: int, columns: Sequence[_Column]) -> TextLine:
        """The groups of these columns, the first of which has that number."""
        text, at = " " * self._label_width, 0
        groups = groupby(self._matrix.heads[start : start + len(columns)], key=lambda head: head.group)
        for group, heads in groups:
            own = columns[at : at + len([*heads])]
            text += " " * own[0].gap + _padded(safe(group), self._width(own, 0) - own[0].gap)
            at += len(own)
        return [Run(text.rstrip(), Tone.HEAD)]


def _text(cell: MatrixCell) -> str:
    return "".join(safe(mark.text) for mark in cell.marks)


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _abbreviation(name: str) -> str:
    """``PrivateUse1`` is PU1: capitals and digits of a long name, or its beginning where that says too little."""
    if len(name) <= MAX_HEAD:
        return name
    initials = "".join(_INITIALS.findall(name))
    return initials if 2 <= len(initials) <= MAX_HEAD else name[:MAX_HEAD]
