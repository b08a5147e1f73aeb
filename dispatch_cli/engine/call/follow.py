"""Follows a call from one kernel to the next: a selection, what runs there, and how the call continues.

There are two kinds of callee: operators with kernels in C++ (`chain.py`) and higher-order operators
(`higher_order/simulate.py`), whose implementations never redispatch with a key set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from dispatch_cli.engine.call.step import KernelStep
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import End, EndKind, Error, Reached, Selection
from dispatch_cli.engine.keys.keyset import DispatchKeySet

MAX_HOPS = 4096
"""More than any stack of transforms and modes that a user can write needs; what goes on longer has no end."""


class Point(NamedTuple):
    """State of a call at one point. selection: if it has just been made. reached: how it came there."""

    values: tuple[Value, ...]
    thread: Thread
    keyset: DispatchKeySet
    reached: Reached
    selection: Selection | None

    def is_at(self, other: Point) -> bool:
        """True if the call continues from both in the same way."""
        return self[:3] == other[:3]


class Callee(Protocol):
    """One call of an operator."""

    @property
    def hops(self) -> Sequence[object]:
        """What has run so far."""

    def select(self, values: tuple[Value, ...], thread: Thread, unboxed: bool) -> Selection:
        """The selection of a call of the operator."""

    def step(self, point: Point) -> KernelStep:
        """Step of what runs at a point; its hop is noted."""

    def endless(self, since: int) -> Error:
        """The error of a call that comes back to where it was. since: the number of the first hop that repeats."""


class Followed(NamedTuple):
    """The end of a call, or the handler in Python that gets it.

    values, thread: what the last kernel was given. later: the error that a kernel raises when what it called has
    computed.
    """

    end: End
    values: tuple[Value, ...]
    thread: Thread
    later: Error | None = None


def follow(callee: Callee, values: tuple[Value, ...], thread: Thread, selection: Selection) -> Followed:
    """Follow a call that begins with a selection."""
    point = Point(values, thread, selection.result, Reached.CALL, selection)
    seen: dict[int, list[tuple[Point, int]]] = {}
    later: Error | None = None
    while True:
        alike = seen.setdefault(point.keyset.bits, [])
        since = next((number for earlier, number in alike if earlier.is_at(point)), None)
        if since is not None or len(callee.hops) >= MAX_HOPS:
            end = End(EndKind.ERROR, error=callee.endless(since or 0))
            return Followed(end, point.values, point.thread)
        alike.append((point, len(callee.hops)))
        step = callee.step(point)
        if step.end is not None:
            return Followed(step.end, point.values, point.thread, later)
        later = later if step.then is None else step.then
        point = _next(callee, point, step)


def _next(callee: Callee, point: Point, step: KernelStep) -> Point:
    values = point.values if step.values is None else step.values
    thread = point.thread if step.thread is None else step.thread
    if step.passes is not None:
        return Point(values, thread, step.passes, Reached.REDISPATCH, None)
    selection = callee.select(values, thread, step.unboxed)
    return Point(values, thread, selection.result, Reached.ANEW, selection)
