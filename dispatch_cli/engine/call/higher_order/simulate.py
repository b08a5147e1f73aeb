"""A call of a higher-order operator: which implementation runs, and whether it calls the operator again.

Source: ``HigherOrderOperator.__call__`` and ``dispatch`` in ``torch/_ops.py`` of PyTorch 2.13 and 2.15, and the helpers
of ``torch/_higher_order_ops/utils.py``.

An implementation at an autograd key comes before a mode. The mode is asked where that implementation calls the operator
again, or where the call is made below autograd.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.call.errors import endless
from dispatch_cli.engine.call.higher_order import errors
from dispatch_cli.engine.call.higher_order.handlers import Handlers, Handling, conflicting
from dispatch_cli.engine.call.higher_order.trace import Asker, HandlerAnswer, HigherOrderCall, HigherOrderHop, Known
from dispatch_cli.engine.call.select import SlotSelector
from dispatch_cli.engine.call.simulate import MAX_TENSORS, make_value
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import PROXY_MODE, Contexts, Mode, Thread
from dispatch_cli.engine.call.trace import Does, End, EndKind, Error, Reached
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, HigherOrderTable, Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.call import Absent, CallError, Context, TensorSpec, WrapperKind
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, is_autograd_not_implemented
from dispatch_cli.model.universe import AUTOGRAD, FRONT, PRE_DISPATCH, PYTHON, UNDEFINED

MAX_HOPS = 512
"""More than any stack of modes and transforms that a user can write needs."""
_MODES = (Asker.MODE, Asker.MODE_ITSELF, Asker.PRE_DISPATCH_MODE)


def simulate_higher_order(
    state: State, operator: HigherOrderOperator, tensors: Sequence[TensorSpec] = (), contexts: Sequence[Context] = ()
) -> HigherOrderCall:
    """Simulate a call of the operator with those tensors as its arguments, in those contexts.

    contexts: the outermost first. Errors: CallError for what the universe or the contexts do not have.
    """
    maker = TensorMaker(state.dispatcher.universe)
    if len(tensors) > MAX_TENSORS:
        raise CallError(f"more than {MAX_TENSORS} tensors", str(tensors[MAX_TENSORS]))
    if any(spec.absent is Absent.UNDEFINED for spec in tensors):
        message = f"{operator.name} is called from Python, where None stays None and no tensor is undefined"
        raise CallError(message, Absent.UNDEFINED.value, "write `none`")
    thread = Contexts(maker).enter_all(tuple(contexts))
    values = tuple(make_value(maker, thread, spec) for spec in tensors)
    machine = _HigherOrderSimulator(state, operator, maker, thread.gradients)
    end = machine.run(values, thread)
    return HigherOrderCall(
        operator.name,
        tuple(tensors),
        tuple(contexts),
        tuple(machine.hops),
        end,
        machine.deferred,
        machine.deferred_is_known,
        conflicting(thread, tensors),
    )


class _HopResult(NamedTuple):
    """Outcome of a step. thread, values: those of the operator's next call; None where they are unchanged.

    not_implemented: the end is that NotImplemented is returned. waits: who goes on asking if the call again returns it.
    """

    hop: HigherOrderHop
    end: End | None = None
    thread: Thread | None = None
    values: tuple[Value, ...] | None = None
    not_implemented: bool = False
    waits: _Waiting | None = None


class _Waiting(NamedTuple):
    """A mode's implementation that has called the operator again: what it was called with, and at which step."""

    values: tuple[Value, ...]
    thread: Thread
    mode: Mode
    hop: HigherOrderHop


class _HigherOrderSimulator:
    def __init__(
        self, state: State, operator: HigherOrderOperator, maker: TensorMaker, records_gradients: bool
    ) -> None:
        self._name = operator.name
        self._table: HigherOrderTable = state.higher_order_table(operator)
        self._selector = SlotSelector(self._table.universe, (self._table.non_fallthrough,))
        self._handlers = Handlers(self._table, state.modes, maker)
        self._maker = maker
        self._records_gradients = records_gradients
        self.hops: list[HigherOrderHop] = []
        self.deferred: str | None = None
        self.deferred_is_known = True
        self._raised: Error | None = None

    def run(self, values: tuple[Value, ...], thread: Thread) -> End:
        """Call the operator, and follow it as far as it is known what its implementations do."""
        reached = Reached.CALL
        seen = set()
        waiting: list[_Waiting] = []
        while True:
            place = (values, thread)
            if place in seen or len(self.hops) >= MAX_HOPS:
                return End(EndKind.ERROR, error=endless(python=True))
            seen.add(place)
            step = self._step(values, thread, self._selected(values, thread, reached))
            self.hops.append(step.hop)
            while step.not_implemented and waiting and self._handlers.asks_subclasses:
                step = self._resumed(waiting.pop())
                self.hops.append(step.hop)
            if step.end is not None:
                return self._after(step.end)
            if step.waits is not None:
                waiting.append(step.waits)
            values = values if step.values is None else step.values
            thread = thread if step.thread is None else step.thread
            reached = Reached.ANEW

    def _after(self, end: End) -> End:
        """The end, with what the autograd implementations on the way do once the operator below them has returned."""
        if self._raised is None or end.kind is EndKind.ERROR:
            return end
        return End(EndKind.ERROR, error=self._raised)

    def _selected(self, values: tuple[Value, ...], thread: Thread, reached: Reached) -> HigherOrderHop:
        """The selection of a call; what runs is filled in later."""
        selection = self._selector.select(values, thread.keys)
        return HigherOrderHop(selection.result.highest_priority(), selection, reached, Does.RAISES, Known.DISPATCHER)

    def _step(self, values: tuple[Value, ...], thread: Thread, hop: HigherOrderHop) -> _HopResult:
        if hop.key == FRONT:
            return self._handled(values, thread, hop, self._handlers.of_transform(thread))
        if hop.key == PYTHON:
            return self._handled(values, thread, hop, self._handlers.at_python_key(values, thread))
        if hop.key == PRE_DISPATCH:
            handling = self._handlers.before_dispatch(values, thread)
            if handling is not None:
                return self._handled(values, thread, hop, handling)
        return self._resolved(values, thread, hop)

    def _resumed(self, waiting: _Waiting) -> _HopResult:
        """The mode's implementation has returned the NotImplemented that it got: the tensors are asked."""
        hop = waiting.hop._replace(resumes=True, excludes=None, impl=None)
        handling = self._handlers.after_mode(waiting.values, waiting.thread, waiting.mode)
        return self._handled(waiting.values, waiting.thread, hop, handling)

    # an implementation that was asked for

    def _handled(
        self, values: tuple[Value, ...], thread: Thread, hop: HigherOrderHop, handling: Handling
    ) -> _HopResult:
        hop = hop._replace(asked=handling.asked, impl=handling.impl, takes_off=handling.takes_off)
        if handling.error is not None:
            does = Does.RAISES if handling.handler is None else Does.HANDS_OVER
            return _HopResult(hop._replace(does=does), End(EndKind.ERROR, handling.handler, handling.error))
        if handling.handler is not None:
            known = Known.DISPATCHER if handling.impl is None else Known.HELPER
            return _HopResult(
                hop._replace(does=Does.HANDS_OVER, why=known), End(EndKind.HANDLER, handler=handling.handler)
            )
        impl = handling.impl
        assert impl is not None, "without an error and a handler, an implementation runs"
        if handling.not_implemented:
            ended = hop._replace(does=Does.ENDS, why=Known.DECLARED)
            return _HopResult(ended, End(EndKind.KERNEL), not_implemented=True)
        place = ImplKind.TRANSFORM if handling.layer is not None else ImplKind.MODE
        if impl.error_at(place) is not None:
            return self._raises(hop, impl, place)
        if impl.redispatches and handling.thread is not None:
            again = hop._replace(does=Does.CALLS_ANEW, why=Known.DECLARED)
            waits = None if handling.mode is None else _Waiting(values, thread, handling.mode, hop)
            return _HopResult(again, None, handling.thread, handling.unwrapped(values), waits=waits)
        return self._ends(hop, impl)

    # an implementation that resolve_key finds

    def _resolved(self, values: tuple[Value, ...], thread: Thread, hop: HigherOrderHop) -> _HopResult:
        entry = self._entry(hop.key)
        hop = hop._replace(entry=entry, impl=entry.impl)
        impl = entry.impl
        if impl is None:
            return _HopResult(hop, End(EndKind.ERROR, error=errors.no_kernel(entry)))
        if impl.kind is ImplKind.AUTOGRAD:
            needs = self._needs_gradient(values)
            hop = hop._replace(needs_gradient=needs)
            if not needs:
                return self._below_autograd(thread, hop)
        if is_autograd_not_implemented(impl.kernel):
            needs = self._needs_gradient(values)
            self._note_missing_derivative(impl, needs)
            return self._below_autograd(thread, hop._replace(needs_gradient=needs))
        if impl.error_at(ImplKind.DISPATCH) is not None:
            return self._raises(hop, impl, ImplKind.DISPATCH)
        if impl.redispatches:
            return self._again(thread, hop)
        return self._ends(hop, impl)

    def _entry(self, key: str) -> HigherOrderEntry:
        universe = self._table.universe
        slot = key if key in universe.slot else UNDEFINED
        decision = self._table.decisions[universe.slot[slot]]
        return self._table.resolved(slot, decision)

    def _needs_gradient(self, values: tuple[Value, ...]) -> bool:
        return self._records_gradients and any(map(_requires_grad, values))

    def _note_missing_derivative(self, impl: HigherOrderImpl, needs_gradient: bool) -> None:
        if not needs_gradient:
            return
        error = errors.autograd_not_implemented(self._name)
        if impl.deferred_error is False:
            self._raised = self._raised or error
        else:
            self.deferred = error.text
            self.deferred_is_known = impl.deferred_error is not None

    def _below_autograd(self, thread: Thread, hop: HigherOrderHop) -> _HopResult:
        """Call the operator again below autograd, as PyTorch's helpers do."""
        keys = self._maker.autograd_keys
        hop = hop._replace(does=Does.CALLS_ANEW, why=Known.HELPER, excludes=keys)
        return _HopResult(hop, thread=thread.exclude(keys))

    def _again(self, thread: Thread, hop: HigherOrderHop) -> _HopResult:
        """Call the operator again without the key of the implementation; at an autograd key, below autograd."""
        at_autograd = hop.key in self._table.universe.covered_by(AUTOGRAD)
        keys = self._maker.autograd_keys if at_autograd else self._maker.known(hop.key)
        hop = hop._replace(does=Does.CALLS_ANEW, why=Known.DECLARED, excludes=keys)
        return _HopResult(hop, thread=thread.exclude(keys))

    def _raises(self, hop: HigherOrderHop, impl: HigherOrderImpl, place: ImplKind) -> _HopResult:
        """The implementation raises an error, as its declaration says. place: what it was found by."""
        error = errors.declared(impl.error_at(place) or "")
        return _HopResult(hop._replace(does=Does.RAISES, why=Known.DECLARED), End(EndKind.ERROR, error=error))

    def _ends(self, hop: HigherOrderHop, impl: HigherOrderImpl) -> _HopResult:
        known = Known.UNKNOWN if impl.redispatches is None else Known.DECLARED
        return _HopResult(hop._replace(does=Does.ENDS, why=known), End(EndKind.KERNEL))


def _requires_grad(value: Value) -> bool:
    if value.wrapper is not None and value.wrapper.kind is WrapperKind.GRAD and value.wrapper.level is not None:
        return True
    return value.spec is not None and value.spec.requires_grad


def device_of(state: State, operator: HigherOrderOperator) -> str | None:
    """A device for which there is an implementation."""
    table, universe = state.higher_order_table(operator), state.dispatcher.universe
    for device, key in universe.devices.items():
        if key in universe.slot and table.entry(key).slot is Slot.IMPL:
            return device
    return None


def call_in_mode(
    state: State, operator: HigherOrderOperator, tensor: str, mode: str, outside: str | None = None
) -> HigherOrderCall:
    """A call in a mode. outside: a context that is entered before the mode. Errors: CallError."""
    contexts = (*([] if outside is None else [outside]), f"mode={mode}")
    return simulate_higher_order(state, operator, (TensorSpec.parse(tensor),), tuple(map(Context.parse, contexts)))


def call_traced_above_autograd(state: State, operator: HigherOrderOperator, tensor: str) -> HigherOrderCall:
    """A call as ``torch.export`` and ``make_fx(pre_dispatch=True)`` trace it: ProxyTorchDispatchMode is asked first."""
    contexts = (Context.parse("pre_dispatch"), Context.parse(f"pre_dispatch_mode={PROXY_MODE}"))
    return simulate_higher_order(state, operator, (TensorSpec.parse(tensor),), contexts)


def asks_a_mode(call: HigherOrderCall) -> bool:
    """True if a mode is asked about the operator."""
    return any(asked.kind in _MODES for hop in call.hops for asked in hop.asked)


def lacks(call: HigherOrderCall) -> bool:
    """True if the call fails because a mode was asked that there is no implementation for."""
    return any(asked.kind in _MODES and asked.answer is HandlerAnswer.NO_IMPL for asked in call.hops[-1].asked)


def decomposes(call: HigherOrderCall) -> bool:
    """True if a composite implementation serves autograd: it calls other operators, which the modes see."""
    entry = call.hops[-1].entry
    return call.end.kind is EndKind.KERNEL and entry is not None and entry.decision.rule is Rule.MATH
