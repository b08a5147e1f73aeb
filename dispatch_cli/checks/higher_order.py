"""What the checks of higher-order operators share: which to look at, and how their calls end."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NamedTuple, TypeVar

from dispatch_cli.checks.text import without_hint
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import Asker, HandlerAnswer, HigherOrderCall
from dispatch_cli.engine.call.thread import INFRA_MODES, PROXY_MODE
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, Slot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.higher_order import FUNCTIONAL_MODE, HigherOrderOperator
from dispatch_cli.model.universe import AUTOGRAD

_BELOW_AUTOGRAD = "below_autograd"
_Problem = TypeVar("_Problem", bound=Hashable)


def own_problems(
    view: View, problems: Callable[[State, HigherOrderOperator], Iterable[_Problem]]
) -> Iterator[tuple[HigherOrderOperator, _Problem]]:
    """What *problems* finds of the view's operators.

    Of an operator that the files only add to, what it finds without them is left out.
    """
    for operator in view.higher_order:
        inherited = view.state.inherited_higher_order_operators.get(operator.name) if operator.is_own else None
        known = frozenset(() if inherited is None else problems(view.state, inherited))
        for problem in problems(view.state, operator):
            if problem not in known:
                yield operator, problem


class Unhandled(NamedTuple):
    """A mode that an operator has no implementation for. error: the first line of what a call in the mode raises."""

    mode: str
    error: str


def unhandled_modes(state: State, operator: HigherOrderOperator) -> Iterator[Unhandled]:
    """The modes of ``torch.compile`` and ``torch.export`` in which a call fails for want of an implementation.

    An operator without an implementation for any backend is left out: PyTorch has some that no call gets to.
    """
    for mode in INFRA_MODES:
        error = _unhandled(state, operator, mode)
        if error is not None:
            yield Unhandled(mode, error)


def _unhandled(state: State, operator: HigherOrderOperator, mode: str) -> str | None:
    device = _device(state, operator)
    if device is None:
        return None
    tensor = TensorSpec.parse(device)
    entered = Context.parse(f"mode={mode}")
    call = simulate_higher_order(state, operator, (tensor,), (entered,))
    if not _asks_a_mode(call) and not _decomposes(call):
        # what is at the autograd keys raises, or it is not known to call the operator again
        call = simulate_higher_order(state, operator, (tensor,), (Context.parse(_BELOW_AUTOGRAD), entered))
    if not _lacks(call) and mode == PROXY_MODE:
        # torch.export without Dynamo traces above autograd
        contexts = (Context.parse("pre_dispatch"), Context.parse(f"pre_dispatch_mode={mode}"))
        call = simulate_higher_order(state, operator, (tensor,), contexts)
    if not _lacks(call) or call.end.error is None:
        return None
    return without_hint(call.end.error.text)


_MODES = (Asker.MODE, Asker.MODE_ITSELF, Asker.PRE_DISPATCH_MODE)


def _asks_a_mode(call: HigherOrderCall) -> bool:
    return any(asked.kind in _MODES for hop in call.hops for asked in hop.asked)


def _lacks(call: HigherOrderCall) -> bool:
    """Whether a mode was asked that there is no implementation for."""
    return any(asked.kind in _MODES and asked.answer is HandlerAnswer.NO_IMPL for asked in call.hops[-1].asked)


def _decomposes(call: HigherOrderCall) -> bool:
    """Whether a composite implementation serves autograd: it calls other operators, which the modes see."""
    entry = call.hops[-1].entry
    return call.end.kind is EndKind.KERNEL and entry is not None and entry.decision.rule is Rule.MATH


def _device(state: State, operator: HigherOrderOperator) -> str | None:
    """A device for which there is an implementation."""
    table, universe = state.higher_order_table(operator), state.dispatcher.universe
    for device, key in universe.devices.items():
        if key in universe.slot and table.entry(key).slot is Slot.IMPL:
            return device
    return None


class NoAutograd(NamedTuple):
    """Backends have an implementation, and their autograd keys have none.

    error: what a call raises. others: the autograd keys of backends at which calls go on.
    """

    keys: tuple[str, ...]
    error: str
    others: tuple[str, ...]


def missing_autograd(state: State, operator: HigherOrderOperator) -> Iterator[NoAutograd]:
    """The autograd keys at which calls fail before they get to the implementation of a backend."""
    table = state.higher_order_table(operator)
    universe = table.universe
    lacking: dict[str, HigherOrderEntry] = {}
    others: set[str] = set()
    autograd = frozenset(universe.covered_by(AUTOGRAD))
    for key in universe.runtime:
        above = autograd_key_of(universe, key)
        if above is None or key in autograd or table.entry(key).slot is not Slot.IMPL:
            continue
        entry = table.entry(above)
        if entry.slot in (Slot.NO_IMPL, Slot.MISSING):
            lacking[above] = entry
        else:
            others.add(above)
    if lacking:
        order = universe.slot.__getitem__
        keys = tuple(sorted(lacking, key=order))
        yield NoAutograd(keys, lacking[keys[0]].error or "", tuple(sorted(others, key=order)))


class NoFunctionalize(NamedTuple):
    """An operator that writes to its arguments cannot be functionalized.

    error: what a call in FunctionalTensorMode raises. dropped: graphs drop calls whose result nobody uses.
    """

    error: str
    dropped: bool


def missing_functionalize(state: State, operator: HigherOrderOperator) -> Iterator[NoFunctionalize]:
    """Whether an operator that writes to its arguments lacks an implementation for functionalization."""
    if not operator.mutates:
        return
    error = _unhandled(state, operator, FUNCTIONAL_MODE)
    if error is not None:
        yield NoFunctionalize(error, not operator.side_effect)
