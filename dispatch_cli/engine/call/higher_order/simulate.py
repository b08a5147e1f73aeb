"""A call of a higher-order operator: which implementation runs, and whether it calls the operator again.

Source: ``HigherOrderOperator.__call__`` and ``dispatch`` in ``torch/_ops.py`` of PyTorch 2.13 and 2.15, and the helpers
of ``torch/_higher_order_ops/utils.py``.

An implementation at an autograd key comes before a mode. The mode is asked where that implementation calls the operator
again, or where the call is made below autograd.
"""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.engine.call.errors import endless
from dispatch_cli.engine.call.higher_order import errors
from dispatch_cli.engine.call.higher_order.handlers import Handlers, Handling
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall, HigherOrderHop
from dispatch_cli.engine.call.select import SlotSelector
from dispatch_cli.engine.call.simulate import MAX_TENSORS, make_value
from dispatch_cli.engine.call.step import KernelStep, Point, calls_anew, ends, follow, hands_over, raises
from dispatch_cli.engine.call.tensors import TensorMaker, Value
from dispatch_cli.engine.call.thread import Contexts, Thread
from dispatch_cli.engine.call.trace import Does, End, EndKind, Error, Selection, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, HigherOrderTable
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Absent, CallError, Context, TensorSpec, WrapperKind
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, is_autograd_not_implemented
from dispatch_cli.model.universe import AUTOGRAD, FRONT, PRE_DISPATCH, PYTHON, UNDEFINED


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
    callee = _HigherOrderCallee(state, operator, maker, thread.gradients)
    end, _, _, later = follow(callee, values, thread, callee.select(values, thread))
    if later is not None and end.kind is not EndKind.ERROR:
        end = End(EndKind.ERROR, error=later)
    return HigherOrderCall(
        operator.name,
        tuple(tensors),
        tuple(contexts),
        tuple(callee.hops),
        end,
        callee.deferred,
        callee.deferred_is_known,
    )


_Ran = tuple[HigherOrderHop, KernelStep]
"""An implementation that ran at a point, and its step."""


class _HigherOrderCallee:
    """One call of a higher-order operator.

    deferred: the error that the backward pass raises. deferred_is_known: as of `HigherOrderCall`.
    """

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

    def select(self, values: tuple[Value, ...], thread: Thread, _unboxed: bool = False) -> Selection:
        """The selection of a call."""
        return self._selector.select(values, thread.keys)

    def step(self, point: Point) -> KernelStep:
        """Step of the implementation at a point."""
        hop, step = self._run(point)
        self.hops.append(hop._replace(does=step.does, why=step.why))
        return step

    def endless(self, _since: int) -> Error:
        """The error of implementations that call one another for ever."""
        return endless(python=True)

    def _run(self, point: Point) -> _Ran:
        values, thread, _, reached, selection = point
        assert selection is not None, "each call begins with a selection"
        hop = HigherOrderHop(selection.result.highest_priority(), selection, reached, Does.RAISES, Why.DISPATCHER)
        if hop.key == FRONT:
            return self._handled(point, hop, self._handlers.of_transform(thread))
        if hop.key == PYTHON:
            return self._handled(point, hop, self._handlers.at_python_key(values, thread))
        handling = self._handlers.before_dispatch(values, thread) if hop.key == PRE_DISPATCH else None
        return self._resolved(point, hop) if handling is None else self._handled(point, hop, handling)

    # an implementation that was asked for

    def _handled(self, point: Point, hop: HigherOrderHop, handling: Handling) -> _Ran:
        hop = hop._replace(asked=handling.asked, impl=handling.impl, takes_off=handling.takes_off)
        impl, handler, error = handling.impl, handling.handler, handling.error
        if handler is not None:
            why = Why.DISPATCHER if impl is None or error is not None else Why.HELPER
            return hop, hands_over(handler, why=why, error=error)
        if error is not None:
            return hop, raises(error, Why.DISPATCHER)
        assert impl is not None, "without an error and a handler, an implementation runs"
        if handling.not_implemented:
            return hop, ends(Why.DECLARED)
        place = ImplKind.TRANSFORM if handling.layer is not None else ImplKind.MODE
        if impl.redispatches and impl.error_at(place) is None and handling.thread is not None:
            step = calls_anew(handling.thread, handling.unwrapped(point.values), Why.DECLARED)
            return hop, step
        return hop, _ends(impl, place)

    # an implementation that resolve_key finds

    def _resolved(self, point: Point, hop: HigherOrderHop) -> _Ran:
        entry = self._entry(hop.key)
        impl = entry.impl
        hop = hop._replace(entry=entry, impl=impl)
        if impl is None:
            return hop, raises(errors.no_kernel(entry), Why.DISPATCHER)
        has_helper = is_autograd_not_implemented(impl.kernel)
        if impl.kind is ImplKind.AUTOGRAD or has_helper:
            needs = self._records_gradients and any(map(_requires_grad, point.values))
            hop = hop._replace(needs_gradient=needs)
            if has_helper or not needs:  # PyTorch's helpers call the operator again below autograd
                then = self._missing_derivative(impl) if has_helper and needs else None
                return self._without_keys(point, hop, self._maker.autograd_keys, Why.HELPER, then)
        if impl.redispatches and impl.error_at(ImplKind.DISPATCH) is None:
            at_autograd = hop.key in self._table.universe.covered_by(AUTOGRAD)
            keys = self._maker.autograd_keys if at_autograd else self._maker.known(hop.key)
            return self._without_keys(point, hop, keys, Why.DECLARED)
        return hop, _ends(impl, ImplKind.DISPATCH)

    def _entry(self, key: str) -> HigherOrderEntry:
        universe = self._table.universe
        slot = key if key in universe.slot else UNDEFINED
        decision = self._table.decisions[universe.slot[slot]]
        return self._table.resolved(slot, decision)

    def _missing_derivative(self, impl: HigherOrderImpl) -> Error | None:
        """The error of ``autograd_not_implemented`` where it is raised at once; otherwise the backward pass raises."""
        error = errors.autograd_not_implemented(self._name)
        if impl.deferred_error is False:
            return error
        self.deferred = error.text
        self.deferred_is_known = impl.deferred_error is not None
        return None

    def _without_keys(
        self, point: Point, hop: HigherOrderHop, keys: DispatchKeySet, why: Why, then: Error | None = None
    ) -> _Ran:
        """The operator is called again with keys excluded. then: the error after that."""
        step = calls_anew(point.thread.exclude(keys), why=why)._replace(then=then)
        return hop._replace(excludes=keys), step


def _ends(impl: HigherOrderImpl, place: ImplKind) -> KernelStep:
    """The implementation computes, or raises as its declaration says. place: what it was found by."""
    text = impl.error_at(place)
    if text is not None:
        return raises(errors.declared(text), Why.DECLARED)
    return ends(Why.UNKNOWN if impl.redispatches is None else Why.DECLARED)


def _requires_grad(value: Value) -> bool:
    if value.wrapper is not None and value.wrapper.kind is WrapperKind.GRAD and value.wrapper.level is not None:
        return True
    return value.spec is not None and value.spec.requires_grad
