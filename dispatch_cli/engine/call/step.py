"""Step that one kernel makes of a call: the answer of each piece of engine/call that knows a kind of kernel."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import ChosenBy, Does, End, EndKind, Error, Handler, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import NO_OPTIONS, Options
from dispatch_cli.model.schema import FunctionSchema


class Moment(NamedTuple):
    """A call at the moment when a kernel begins.

    schema: of the operator, None where it has none. values: its tensors. thread: where it runs.
    slot, entry: what was selected. keyset: what the kernel gets. options: what the call is given beside tensors.
    tags: of the operator, where they are known.
    """

    name: OperatorName
    schema: FunctionSchema | None
    maker: TensorMaker
    values: tuple[Value, ...]
    thread: Thread
    slot: str
    entry: TableEntry
    keyset: DispatchKeySet
    options: Options = NO_OPTIONS
    tags: tuple[str, ...] = ()

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
