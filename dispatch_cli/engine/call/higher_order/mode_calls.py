"""Calls of a higher-order operator in a mode: ordinary ones, and those in which the mode is asked.

An implementation at an autograd key comes before the mode. The mode is asked where that implementation calls the
operator again, or where the call is made below autograd.
"""

from __future__ import annotations

from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import Asker, HandlerAnswer, HigherOrderCall
from dispatch_cli.engine.call.thread import PROXY_MODE
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.higher_order import Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.higher_order import HigherOrderOperator

_MODES = (Asker.MODE, Asker.MODE_ITSELF, Asker.PRE_DISPATCH_MODE)


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
