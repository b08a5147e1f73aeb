"""The calls of a thread as a tree, in which what is repeated is said once.

Calls that are alike have the same *shape*: the same kind (the caller decides what that is) and the same calls inside.
Equal neighbours fold into one with a count, and so do repeated groups, as A B A B A B, from the inside out. Equal
shapes have equally many calls, so a shape is kept once, however often it occurs. The time grows with the calls: groups
have a greatest length.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.trace.recording import NONE

GROUP = -1
"""The kind of a repeated group of calls, which is no call itself."""
_LONGEST = (2, 8, 32, 128, 512, 2048, 8192)
"""Lengths up to which groups are looked for in turn: short ones first, which may be in longer ones."""
_TRIED = 4
"""So many later occurrences of the same call may begin the next repetition of a group."""
_BYTES = 8
"""Bytes of a number in an array; stretches of many calls are compared as bytes."""


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
        inside: defaultdict[int, list[FoldedCalls]] = defaultdict(list)
        for number in reversed(numbers):
            folds = inside.pop(number, None)
            shape = self._shape(kind_of(number), () if folds is None else self._folded(folds[::-1]))
            inside[parents[number]].append(FoldedCalls(shape, 1))
        self.top = self._folded(inside.pop(NONE, [])[::-1])

    def shape(self, fold: FoldedCalls) -> Shape:
        """The shape that is repeated."""
        return self._shapes[fold.shape]

    def items(self, most: int | None = None) -> Iterator[Item]:
        """The lines, each before those inside. most: levels of calls, None for all."""
        waiting: list[tuple[FoldedCalls, int, int, int, Sequence[int]]] = []
        """Stretches to come: where each starts, its level on the screen, that of its calls, repetitions around it."""

        def put(folds: Sequence[FoldedCalls], start: int, level: int, depth: int, around: Sequence[int]) -> None:
            placed = []
            for fold in folds:
                placed.append((fold, start, level, depth, around))
                start += fold.times * self.shape(fold).size
            waiting.extend(reversed(placed))

        put(self.top, 0, 0, 0, (0,))
        while waiting:
            fold, start, level, depth, around = waiting.pop()
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
            if is_group:
                put(shape.inside, start, level + 1, depth, steps)
            elif most is None or depth + 1 < most:
                put(shape.inside, start + 1, level + 1, depth + 1, steps)

    def _shape(self, kind: int, inside: tuple[FoldedCalls, ...]) -> int:
        key = (kind, inside)
        shape = self._known.get(key)
        if shape is None:
            size = sum(self._shapes[fold.shape].size * fold.times for fold in inside) + (kind != GROUP)
            shape = self._known[key] = len(self._shapes)
            self._shapes.append(Shape(kind, inside, size))
        return shape

    def _folded(self, folds: Sequence[FoldedCalls]) -> tuple[FoldedCalls, ...]:
        """Neighbours that are alike as one, and repeated groups."""
        folds = _runs(folds)
        for longest in _LONGEST:
            if len(folds) > 3:
                folds = _runs(self._with_groups(folds, longest))
        return tuple(folds)

    def _with_groups(self, folds: Sequence[FoldedCalls], longest: int) -> Sequence[FoldedCalls]:
        """The calls with groups of at most *longest* that are repeated at once as one."""
        numbers: dict[FoldedCalls, int] = {}
        data = array("q", [numbers.setdefault(fold, len(numbers)) for fold in folds])
        if len(numbers) == len(folds):  # all are different
            return folds
        stretches = data.tobytes()
        later = [len(folds)] * len(folds)
        last: dict[int, int] = {}
        for at, number in enumerate(data):
            if number in last:
                later[last[number]] = at
            last[number] = at
        grouped: list[FoldedCalls] = []
        at = 0
        while at < len(folds):
            period, times = _repeated(stretches, later, at, longest)
            if times > 1:
                grouped.append(FoldedCalls(self._shape(GROUP, self._folded(folds[at : at + period])), times))
                at += period * times
            else:
                grouped.append(folds[at])
                at += 1
        return grouped


def _repeated(stretches: bytes, later: Sequence[int], at: int, longest: int) -> tuple[int, int]:
    """The shortest stretch from *at* on that is repeated at once, and how often; 1 and 1 where there is none.

    later: where each call comes next.
    """
    start = later[at]
    for _ in range(_TRIED):
        size = (start - at) * _BYTES
        if start - at > longest or start + (start - at) > len(later):
            break
        first, end = stretches[at * _BYTES : start * _BYTES], start * _BYTES
        while stretches.startswith(first, end):
            end += size
        if end > start * _BYTES:
            return start - at, (end - at * _BYTES) // size
        start = later[start]
    return 1, 1


def _runs(folds: Sequence[FoldedCalls]) -> list[FoldedCalls]:
    """Neighbours of one shape as one."""
    runs: list[FoldedCalls] = []
    for fold in folds:
        if runs and runs[-1].shape == fold.shape:
            runs[-1] = FoldedCalls(fold.shape, runs[-1].times + fold.times)
        else:
            runs.append(fold)
    return runs
