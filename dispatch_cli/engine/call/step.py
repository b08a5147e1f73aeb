"""Steps that kernels make of a call, and the loop that follows a call from step to step.

There are two kinds of callee: operators with kernels in C++ (`chain.py`) and higher-order operators
(`higher_order/simulate.py`), whose implementations never redispatch with a key set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import ChosenBy, Does, End, EndKind, Error, Handler, Reached, Selection, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.calls.options import NO_OPTIONS, Options
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema

MAX_HOPS = 4096
"""More than any stack of transforms and modes that a user can write needs; what goes on longer has no end."""


class Moment(NamedTuple):
    """A call at the moment when a kernel begins.

    values: its tensors. thread: where it runs. slot, entry: what was selected. keyset: what the kernel gets.
    options: what the call is given beside tensors.
    """

    dispatcher: Dispatcher
    operator: Operator
    maker: TensorMaker
    values: tuple[Value, ...]
    thread: Thread
    slot: str
    entry: TableEntry
    keyset: DispatchKeySet
    options: Options = NO_OPTIONS

    @property
    def name(self) -> OperatorName:
        """The operator's name."""
        return self.operator.name

    @property
    def schema(self) -> FunctionSchema | None:
        """The operator's schema; None where it has none."""
        return self.operator.schema

    def below(self, key: str) -> DispatchKeySet:
        """Part of the set below *key*."""
        return self.keyset & DispatchKeySet.full_after(self.maker.universe, key)


class KernelStep(NamedTuple):
    """Step that a kernel makes of a call.

    passes: the set of a redispatch. values, thread: with which a call continues; None where they are unchanged.
    end: when the call ends here. chosen_by: the options by which it chose what it passes.
    unboxed: a second call is unboxed, so that a generator counts. then: what it raises once what it calls has computed.
    """

    does: Does
    why: Why
    passes: DispatchKeySet | None = None
    values: tuple[Value, ...] | None = None
    thread: Thread | None = None
    end: End | None = None
    chosen_by: ChosenBy | None = None
    unboxed: bool = False
    then: Error | None = None


def ends(why: Why) -> KernelStep:
    """The kernel computes."""
    return KernelStep(Does.ENDS, why, end=End(EndKind.KERNEL))


def decomposes(why: Why) -> KernelStep:
    """The kernel calls other operators."""
    return KernelStep(Does.DECOMPOSES, why, end=End(EndKind.DECOMPOSITION))


def raises(error: Error, why: Why = Why.CORE_FALLBACK) -> KernelStep:
    """The kernel, or its absence, is an error."""
    return KernelStep(Does.RAISES, why, end=End(EndKind.ERROR, error=error))


def not_known() -> KernelStep:
    """It is not known which kernel runs, if any."""
    return KernelStep(Does.NOT_KNOWN, Why.INCOMPLETE, end=End(EndKind.NOT_KNOWN))


def hands_over(
    handler: Handler, passed: tuple[Handler, ...] = (), why: Why = Why.CORE_FALLBACK, error: Error | None = None
) -> KernelStep:
    """A Python handler gets the call. passed: those that returned NotImplemented before. error: which it raises."""
    kind = EndKind.HANDLER if error is None else EndKind.ERROR
    return KernelStep(Does.HANDS_OVER, why, end=End(kind, handler, error, passed))


def redispatches(
    passes: DispatchKeySet,
    why: Why = Why.CORE_FALLBACK,
    values: tuple[Value, ...] | None = None,
    thread: Thread | None = None,
) -> KernelStep:
    """The kernel redispatches with a key set."""
    return KernelStep(Does.REDISPATCHES, why, passes, values, thread)


def calls_anew(
    thread: Thread, values: tuple[Value, ...] | None = None, why: Why = Why.CORE_FALLBACK, unboxed: bool = False
) -> KernelStep:
    """The kernel calls the operator again, on a thread that it has changed."""
    return KernelStep(Does.CALLS_ANEW, why, None, values, thread, unboxed=unboxed)


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
        """The kernels and handlers that have run so far."""

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
