"""The lines of a trace on which a program spends most of its time."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from typing import NamedTuple

from dispatch_cli.answers.trace.report import TraceRow, TraceThread


class HeaviestLines(NamedTuple):
    """The lines of each thread, in order, and those that they are inside of. lines: that all trees have."""

    threads: tuple[TraceThread, ...]
    lines: int


class _Line(NamedTuple):
    """A line in its tree. number: of all lines. parent: the one that it is inside of."""

    number: int
    thread: int
    row: TraceRow
    parent: _Line | None


def heaviest_lines(threads: Iterable[TraceThread], most: int) -> HeaviestLines:
    """The *most* lines of calls that took longest, with the calls inside of them.

    Calls whose end is not recorded come first: the program was in them when it was killed. A repeated group has no time
    of its own: it is there with what is inside of it.
    """
    heap: list[tuple[bool, int, int, _Line]] = []
    """The lightest first; of equal ones the last."""
    every: list[TraceThread] = []
    count = 0
    for thread in threads:
        around: list[_Line] = []
        for row in thread.rows:
            del around[row.level :]
            line = _Line(count, len(every), row, around[-1] if around else None)
            around.append(line)
            count += 1
            if row.operator is not None:
                heapq.heappush(heap, (row.unfinished > 0, row.microseconds or 0, -line.number, line))
                if len(heap) > most:
                    heapq.heappop(heap)
        every.append(thread)
    shown: dict[int, _Line] = {}
    for *_, chosen in heap:
        outer: _Line | None = chosen
        while outer is not None and outer.number not in shown:
            shown[outer.number] = outer
            outer = outer.parent
    in_order = [shown[number] for number in sorted(shown)]
    shown_threads = (
        thread._replace(rows=iter([line.row for line in in_order if line.thread == number]))
        for number, thread in enumerate(every)
        if any(line.thread == number for line in in_order)
    )
    return HeaviestLines(tuple(shown_threads), count)
