"""The calls of a thread as a tree, in which what is repeated is said once.

Calls that are alike have the same *shape*: the same kind (the caller decides what that is) and the same calls inside.
Equal neighbours fold into one with a count, and so do repeated groups, as A B A B A B, from the inside out. Equal
shapes have equally many calls, so a shape is kept once, however often it occurs. The time grows with the calls: groups
have a greatest length.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from dispatch_cli.trace.recording import NONE

GROUP = -1
"""The kind of a repeated group of calls, which is no call itself."""
_LONGEST = 4096
"""The calls of the longest group."""
_TRIED = 4
"""So many earlier occurrences of the last call of a group may end the repetition before it."""


class FoldedCalls(NamedTuple):
    """A shape, so many times in a row."""

    shape: int
    times: int


class Shape(NamedTuple):
    """Common properties of calls that are alike. kind: of the call, or `GROUP`. size: the calls of one of it."""

    kind: int
    inside: tuple[FoldedCalls, ...]
    size: int


class Item(NamedTuple):
    """A line of the tree. call: the first of *times* calls that are alike; of a group, its first call.

    level: how deep it is shown. calls: the calls of one of them, with those inside. is_group: a repeated group.
    every: all calls that the line stands for, also those in repetitions of what it is in.
    """

    call: int
    level: int
    times: int
    calls: int
    is_group: bool
    every: Sequence[int]


class CallTree:
    """The calls of one thread, folded.

    numbers: of the calls, in order. parents: for each call of the recording, the one that made it. kind_of: what calls
    are alike by.
    """

    def __init__(self, numbers: array[int], parents: array[int], kind_of: Callable[[int], int]) -> None:
        self.numbers = numbers
        self._shapes: list[Shape] = []
        self._known: dict[tuple[int, tuple[FoldedCalls, ...]], int] = {}
        self._same: dict[FoldedCalls, FoldedCalls] = {}
        inside: defaultdict[int, list[int]] = defaultdict(list)
        for number in reversed(numbers):
            shapes = inside.pop(number, ())
            inside[parents[number]].append(self._shape(kind_of(number), self._folded(reversed(shapes))))
        self.top = self._folded(reversed(inside[NONE]))

    def shape(self, fold: FoldedCalls) -> Shape:
        """The shape that is repeated."""
        return self._shapes[fold.shape]

    def items(self) -> Iterator[Item]:
        """The lines, each before those inside."""
        waiting: list[tuple[FoldedCalls, int, int, Sequence[int]]] = []
        """Stretches to come: where each starts, its level, repetitions around it."""

        def put(folds: Sequence[FoldedCalls], start: int, level: int, around: Sequence[int]) -> None:
            placed = []
            for fold in folds:
                placed.append((fold, start, level, around))
                start += fold.times * self.shape(fold).size
            waiting.extend(reversed(placed))

        put(self.top, 0, 0, (0,))
        while waiting:
            fold, start, level, around = waiting.pop()
            shape = self.shape(fold)
            steps = [first + step * shape.size for first in around for step in range(fold.times)]
            is_group = shape.kind == GROUP
            yield Item(
                self.numbers[start],
                level,
                fold.times,
                shape.size,
                is_group,
                [self.numbers[start + step] for step in steps] if not is_group else (),
            )
            put(shape.inside, start if is_group else start + 1, level + 1, steps)

    def _shape(self, kind: int, inside: tuple[FoldedCalls, ...]) -> int:
        key = (kind, inside)
        shape = self._known.get(key)
        if shape is None:
            size = sum(self._shapes[fold.shape].size * fold.times for fold in inside) + (kind != GROUP)
            shape = self._known[key] = len(self._shapes)
            self._shapes.append(Shape(kind, inside, size))
        return shape

    def _folded(self, shapes: Iterable[int]) -> tuple[FoldedCalls, ...]:
        """Neighbours that are alike as one, and repeated groups, each as soon as its second repetition has ended."""
        folds: list[FoldedCalls] = []
        earlier: list[int] = []
        """For each of them the position before it at which the same was."""
        last: dict[FoldedCalls, int] = {}
        groups: list[int] = []
        for shape, run in groupby(shapes):
            fold: FoldedCalls | None = FoldedCalls(shape, sum(1 for _ in run))
            start = len(folds)
            while fold is not None:  # it takes the place of all from the start on
                if start and folds[start - 1].shape == fold.shape:
                    start -= 1
                    fold = FoldedCalls(fold.shape, folds[start].times + fold.times)
                while len(folds) > start:
                    last[folds.pop()] = earlier.pop()
                while groups and groups[-1] >= start:
                    groups.pop()
                if self.shape(fold).kind == GROUP:
                    groups.append(start)
                fold = self._same.setdefault(fold, fold)  # what is one object is compared at once
                earlier.append(last.get(fold, NONE))
                last[fold] = start
                folds.append(fold)
                start, fold = self._group(folds, earlier, groups)
        return tuple(folds)

    def _group(self, folds: list[FoldedCalls], earlier: list[int], groups: list[int]) -> tuple[int, FoldedCalls | None]:
        """A group at the end that is repeated there, and where it begins; None without one."""
        end = len(folds) - 1
        for at in groups[-_TRIED:]:
            inside = self.shape(folds[at]).inside
            if len(inside) == end - at and inside == tuple(folds[at + 1 :]):
                return at + 1, FoldedCalls(folds[at].shape, 1)
        at = earlier[end]
        for _ in range(_TRIED):
            first = at + 1
            start = first - (end - at)
            if at == NONE or start < 0 or end - at > _LONGEST:
                break
            if folds[start] == folds[first] and folds[start:first] == folds[first:]:
                return start, FoldedCalls(self._shape(GROUP, tuple(folds[first:])), 2)
            at = earlier[at]
        return 0, None
