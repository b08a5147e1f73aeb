"""Parts that the checks of higher-order operators share: the operators to look at, and the ends of their calls."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from dispatch_cli.checks.finding_parts import without_hint
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.universe import PRE_DISPATCH, autograd_key_of, backend_keys

if TYPE_CHECKING:
    from dispatch_cli.engine.python.higher_order import HigherOrderEntry

_Problem = TypeVar("_Problem", bound=Hashable)


def own_problems(
    view: View, problems: Callable[[State, HigherOrderOperator], Iterable[_Problem]]
) -> Iterator[tuple[HigherOrderOperator, _Problem]]:
    """Problems that *problems* finds in the view's operators.

    For an operator that the files only add to, problems that are there without the files are left out.
    """
    for operator in view.higher_order:
        inherited = view.state.inherited_higher_order_operators.get(operator.name) if operator.is_own else None
        known = frozenset(() if inherited is None else problems(view.state, inherited))
        for problem in problems(view.state, operator):
            if problem not in known:
                yield operator, problem


class Unhandled(NamedTuple):
    """A mode that an operator has no implementation for. error: the first line of what a call in the mode raises.

    above_autograd: only calls that are traced above autograd fail.
    """

    mode: str
    error: str
    above_autograd: bool = False


def unhandled_modes(state: State, operator: HigherOrderOperator) -> Iterator[Unhandled]:
    """The modes of ``torch.compile`` and ``torch.export`` in which a call fails for want of an implementation.

    An operator without an implementation for any backend is left out: PyTorch has some that no call gets to. A
    composite implementation calls other operators before a mode is asked, except for tracing above autograd.
    """
    from dispatch_cli.engine.call.higher_order.errors import not_registered
    from dispatch_cli.engine.call.higher_order.place import answer_at
    from dispatch_cli.engine.call.thread import INFRA_MODES, PROXY_MODE
    from dispatch_cli.engine.python.higher_order import Slot

    table = state.higher_order_table(operator)
    universe = table.universe
    backends = (key for key in universe.devices.values() if key in universe.slot)
    backend = next((key for key in backends if table.entry(key).slot is Slot.IMPL), None)
    above = None if backend is None else autograd_key_of(universe, backend)
    if backend is None:
        return
    composite = above is not None and table.entry(above).decision.rule is Rule.MATH
    for mode in INFRA_MODES:
        error = answer_at(table, ImplPlace(ImplKind.MODE, mode), state.modes).error
        if composite and error is not None:
            error = not_registered(mode) if mode == PROXY_MODE and not table.falls_through(PRE_DISPATCH) else None
        if error is not None:
            yield Unhandled(mode, without_hint(error.text), composite)


class NoAutograd(NamedTuple):
    """Backends have an implementation, and their autograd keys have none.

    error: what a call raises. others: the autograd keys of backends at which calls go on. by_alias: none of these
    backends has an implementation of its own.
    """

    keys: tuple[str, ...]
    error: str
    others: tuple[str, ...]
    by_alias: bool


def missing_autograd(state: State, operator: HigherOrderOperator) -> Iterator[NoAutograd]:
    """The autograd keys at which calls fail before they get to the implementation of a backend."""
    from dispatch_cli.engine.python.higher_order import Slot

    table = state.higher_order_table(operator)
    universe = table.universe
    lacking: dict[str, HigherOrderEntry] = {}
    others: set[str] = set()
    registered = {impl.name for impl in operator.impls if impl.kind is ImplKind.DISPATCH}
    by_alias = True
    for key in backend_keys(universe):
        above = autograd_key_of(universe, key)
        if above is None or not table.is_implemented(key):
            continue
        entry = table.entry(above)
        if entry.slot in (Slot.NO_IMPL, Slot.MISSING):
            lacking[above] = entry
            by_alias = by_alias and key not in registered
        else:
            others.add(above)
    if lacking:
        order = universe.slot.__getitem__
        keys = tuple(sorted(lacking, key=order))
        yield NoAutograd(keys, lacking[keys[0]].error or "", tuple(sorted(others, key=order)), by_alias)
