"""The calls of a thread as a tree, in which what is repeated is said once.

Calls that are alike have the same *shape*: the same kind (the caller decides what that is) and the same calls inside.
Equal neighbours fold into one with a count, and so do repeated groups, as A B A B A B, from the inside out. Equal
shapes have equally many calls, so a shape is kept once, however often it occurs. All of this takes linear time.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.trace.calls import NONE

GROUP = -1
"""The kind of a repeated group of calls, which is no call itself."""
_STEP = 4
"""Factor by which longer groups are looked for each time."""
_TRIED = 4
"""So many later occurrences of the same call may begin the next repetition of a group."""
_MODULUS, _FACTOR = (1 << 61) - 1, 1_000_003


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
        """Neighbours that are alike as one, then repeated groups: short ones first, which may be in longer ones."""
        folds = _runs(folds)
        stretches = _Stretches(folds)
        longest = 2
        while longest < 2 * len(folds) and stretches.nearest <= len(folds) // 2:
            if stretches.nearest <= longest:
                grouped = self._with_groups(folds, stretches, longest)
                if len(grouped) < len(folds):
                    folds = _runs(grouped)
                    stretches = _Stretches(folds)
            longest *= _STEP
        return tuple(folds)

    def _with_groups(self, folds: Sequence[FoldedCalls], stretches: _Stretches, longest: int) -> list[FoldedCalls]:
        """The calls with groups of at most *longest* that are repeated at once as one."""
        grouped: list[FoldedCalls] = []
        at = 0
        while at < len(folds):
            period, times = stretches.repeated(at, longest)
            if times > 1:
                grouped.append(FoldedCalls(self._shape(GROUP, self._folded(folds[at : at + period])), times))
                at += period * times
            else:
                grouped.append(folds[at])
                at += 1
        return grouped


def _runs(folds: Sequence[FoldedCalls]) -> list[FoldedCalls]:
    """Neighbours of one shape as one."""
    runs: list[FoldedCalls] = []
    for fold in folds:
        if runs and runs[-1].shape == fold.shape:
            runs[-1] = FoldedCalls(fold.shape, runs[-1].times + fold.times)
        else:
            runs.append(fold)
    return runs


class _Stretches:
    """Finds equal stretches of a sequence, by a number for each beginning of it."""

    def __init__(self, folds: Sequence[FoldedCalls]) -> None:
        self._folds = folds
        self._later = [len(folds)] * len(folds)
        """Position at which each comes next; the length where it does not."""
        self.nearest = len(folds)
        """The least distance of two that are the same."""
        last: dict[FoldedCalls, int] = {}
        for at, fold in enumerate(folds):
            before = last.get(fold)
            if before is not None:
                self._later[before] = at
                self.nearest = min(self.nearest, at - before)
            last[fold] = at
        self._sums, self._powers = [0], [1]
        if len(last) == len(folds):  # all are different: nothing is compared
            return
        for fold in folds:
            self._sums.append((self._sums[-1] * _FACTOR + hash(fold) + 1) % _MODULUS)
            self._powers.append(self._powers[-1] * _FACTOR % _MODULUS)

    def repeated(self, at: int, longest: int) -> tuple[int, int]:
        """The shortest stretch from *at* on that is repeated at once, and how often; 1 and 1 where there is none."""
        folds, count = self._folds, len(self._folds)
        start = self._later[at]
        for _ in range(_TRIED):
            period = start - at
            if period > longest or start + period > count:
                break
            if folds[at + 1] == folds[start + 1] and (times := self._times(at, period)) > 1:
                end = at + times * period
                if folds[at : end - period] == folds[start:end]:
                    return period, times
            start = self._later[start]
        return 1, 1

    def _times(self, at: int, period: int) -> int:
        """Number of times that the stretch comes in a row."""
        first, times = self._sum(at, at + period), 1
        while (end := at + (times + 1) * period) <= len(self._folds) and first == self._sum(end - period, end):
            times += 1
        return times

    def _sum(self, start: int, end: int) -> int:
        return (self._sums[end] - self._sums[start] * self._powers[end - start]) % _MODULUS
