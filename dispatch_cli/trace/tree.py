"""The calls of a thread as a tree, in which calls that are alike, in the same place, are one line."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.trace.recording import NONE


class Item(NamedTuple):
    """A line of the tree. level: how deep it is. calls: those that it stands for, in order."""

    level: int
    calls: array[int]


class _Line:
    """A line with those inside of it, by their kinds, in the order of their first calls."""

    def __init__(self, level: int) -> None:
        self.level = level
        self.calls = array("i")
        self.inside: dict[int, _Line] = {}


def tree_items(numbers: Iterable[int], parents: array[int], kind_of: Callable[[int], int]) -> Iterator[Item]:
    """The lines, each before those inside of it, in the order of their first calls.

    numbers: of the calls, in order. parents: for each call of the recording, the one that made it. kind_of: what calls
    are alike by.
    """
    top = _Line(-1)
    around = [(NONE, top)]
    """The calls around the next one, each with its line."""
    for call in numbers:
        while around[-1][0] != parents[call]:
            around.pop()
        outer, kind = around[-1][1], kind_of(call)
        line = outer.inside.get(kind)
        if line is None:
            line = outer.inside[kind] = _Line(outer.level + 1)
        line.calls.append(call)
        around.append((call, line))
    waiting = [*reversed(top.inside.values())]
    while waiting:
        line = waiting.pop()
        yield Item(line.level, line.calls)
        waiting += reversed(line.inside.values())
