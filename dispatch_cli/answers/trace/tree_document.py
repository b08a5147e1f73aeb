"""The tree of calls of a thread, as lines of a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.trace.report import TraceRow, TraceThread
from dispatch_cli.answers.trace.wording import (
    TIMES,
    headings_of,
    row_end,
    row_operator,
    row_path,
    short_heading,
)
from dispatch_cli.render.document import Column, Inline, Run, Tone, joined
from dispatch_cli.render.words import plural
from dispatch_cli.trace.recording import PythonPlace

INDENT = 2
"""Blanks before a call for each call that it is inside of."""
MOST_INDENTED = 24
"""So many levels are indented. Calls that are deeper, as of an operator that calls itself, say their level."""


def thread_title(thread: TraceThread) -> str:
    """The name of a thread, and how many calls it has."""
    return f"{f'Thread {thread.name}' if thread.name else 'unnamed thread'}: {plural(thread.calls, 'call')}"


class ShownLine(NamedTuple):
    """A line of a table: a row, or the lines of Python that the rows below it are from.

    indent: in blanks. place: the line of Python that the heading, or the row, is about.
    """

    row: TraceRow | None
    heading: str
    indent: int
    place: PythonPlace | None = None


def tree_lines(rows: Sequence[TraceRow], directory: str | None) -> Iterator[ShownLine]:
    """The rows, and above those of each line of Python that line."""
    around: list[tuple[str, str] | None] = [("", "")]
    """The headings that are above the rows of each level, and of those inside of it; None where none are."""
    room = 0
    for row in rows:
        del around[row.level + 2 :]
        while len(around) < row.level + 2:
            around.append(around[-1])
        before = around[row.level + 1]
        if row.operator is None:
            around[row.level + 1] = None
            yield ShownLine(row, "", INDENT * row.level)
            continue
        if (headings := headings_of(row, directory)) != before:
            around[row.level + 1] = headings
            place, forward = headings
            if place and (before is None or place != before[0] or not forward):
                room = INDENT
                yield ShownLine(None, place, INDENT * row.level, place=row.place)
            if forward:
                yield ShownLine(None, forward, INDENT * row.level + room, place=row.forward_place)
        yield ShownLine(row, "", INDENT * row.level + room, row.place)


def _columns() -> list[Column[ShownLine]]:
    def number(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return Run("" if row is None or row.operator is None else str(row.number), Tone.DIM)

    def operator(line: ShownLine, short: bool) -> Inline:
        row, indent = line.row, Run(" " * min(line.indent, INDENT * MOST_INDENTED))
        if row is None:
            return (indent, Run(short_heading(line.heading) if short else line.heading, Tone.PLACE))
        label = Run(row_operator(row), Tone.DIM if row.operator is None else Tone.BAD if row.raised else Tone.HEAD)
        if line.indent > INDENT * MOST_INDENTED:
            return (indent, Run(f"level {row.level}: ", Tone.DIM), label)
        return (indent, label)

    def kernels(line: ShownLine, _: bool) -> Inline:
        row = line.row
        if row is None or row.path is None:
            return ""
        return joined(row_path(row), *row_end(row))

    def times(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return "" if row is None or row.operator is None or row.times == 1 else f"{TIMES}{row.times:,}"

    def milliseconds(line: ShownLine, _: bool) -> Inline:
        spent = None if line.row is None else line.row.microseconds
        return "" if spent is None else f"{spent / 1000:,.1f}"

    return [
        Column("Call", number, wraps=False, right=True),
        Column("Operator", operator, wraps=False, overflows=True),
        Column("", times, wraps=False, right=True, optional=True),
        Column("Kernels in turn", kernels),
        Column("ms", milliseconds, wraps=False, right=True, optional=True),
    ]


*COLUMNS, _TIME = _columns()
TIMED_COLUMNS = [*COLUMNS[:-1], _TIME, COLUMNS[-1]]
"""The same with the time of each line."""
