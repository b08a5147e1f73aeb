"""The kernels of a call that were seen to run, one after the other, and where they are not those that are predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.call.kernels.entry import COMPOSITES, backend_keys
from dispatch_cli.engine.call.trace import Hop, Reached
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import FunctionSchema
from dispatch_cli.model.schema.arguments import is_mutable
from dispatch_cli.model.universe import FUNCTIONALIZE, META, PYTHON, PYTHON_DISPATCHER, UNDEFINED
from dispatch_cli.trace.explained import Explained
from dispatch_cli.trace.recording import Ran


class Difference(NamedTuple):
    """First difference of the kernels that ran from those that the engine predicts.

    at: which kernel, from 0. ran, predicted: its slot, None where there is none.
    """

    at: int
    ran: str | None
    predicted: str | None


def difference(explained: Explained, ran: Sequence[Ran]) -> Difference | None:
    """The first difference of what ran from what is predicted; None without one, and where nothing is predicted.

    ran: the kernels of the call, and those of the same operator that they reached, as they began.
    """
    if explained.call is None or not ran:
        return None
    predicted = [hop for hop in explained.hops if is_seen(hop)]
    seen = chain_of(explained.operator, ran, explained.state.dispatcher)
    for at, (hop, kernel) in enumerate(zip(predicted, seen, strict=False)):
        is_same = slot_of(hop) == kernel.slot and hop.keyset.bits == kernel.raw
        if not is_same or (at and kernel.redispatched != (hop.reached is Reached.REDISPATCH)):
            return Difference(at, kernel.slot, slot_of(hop))
    if len(seen) < len(predicted) and not seen[-1].raised:
        return Difference(len(seen), None, slot_of(predicted[len(seen)]))
    if len(seen) > len(predicted):
        return Difference(len(predicted), seen[len(predicted)].slot, None)
    return None


def has_kernel(hop: Hop) -> bool:
    """True if there is a kernel; a call that comes to a slot without one ends there."""
    return hop.live.kernel is not None or hop.python is not None


def is_seen(hop: Hop) -> bool:
    """True for a kernel of the dispatcher, and not a Python function that the Python dispatcher calls."""
    return hop.live.kernel is not None and (hop.python is None or hop.python.kernel is None)


def slot_of(hop: Hop) -> str | None:
    """The slot of a kernel; of one that the Python dispatcher asks for by a key, that key."""
    return hop.slot if hop.python is None else hop.python.chosen_key


def chain_of(operator: OperatorName, ran: Sequence[Ran], dispatcher: Dispatcher) -> list[Ran]:
    """The kernels of one call: the first one, and each with which one before goes on.

    ran: also those of other calls of the operator that a kernel made, as they began.
    """
    chain, at = [ran[0]], 0
    while (following := _following(operator, ran, at, dispatcher)) is not None:
        at = following
        chain.append(ran[at])
    return chain


def _following(operator: OperatorName, ran: Sequence[Ran], at: int, dispatcher: Dispatcher) -> int | None:
    """Position of the kernel of the same operator that follows.

    One that computes, one written in other operators, and Python code that gets the call may call the same operator
    with tensors of its own; such a call is another one. So is the trial that functionalization makes of an operator in
    place first, on meta tensors.
    """
    kernel, universe = ran[at], dispatcher.universe
    if kernel.slot == PYTHON:
        return None
    inside = []
    for number in range(at + 1, len(ran)):
        if ran[number].depth <= kernel.depth:
            break
        if ran[number].depth == kernel.depth + 1:
            if ran[number].redispatched:
                return number
            inside.append(number)
    if kernel.slot not in universe.slot or kernel.slot in (UNDEFINED, PYTHON_DISPATCHER, *backend_keys(universe)):
        return None
    if dispatcher.operator(operator).live[kernel.slot].rule in COMPOSITES:
        return None
    writes = operator.name.endswith("_") and is_mutable(_schema_of(operator, dispatcher))
    tries = kernel.slot == FUNCTIONALIZE and writes
    if inside and tries and _is_on_meta(ran[inside[0]], dispatcher.layout):
        del inside[0]
    return inside[0] if inside else None


def _schema_of(operator: OperatorName, dispatcher: Dispatcher) -> FunctionSchema | None:
    definition = dispatcher.operator(operator).definition
    return None if definition is None else definition.known_schema


def _is_on_meta(kernel: Ran, layout: KeyLayout) -> bool:
    return DispatchKeySet(layout, kernel.raw & (layout.functionality_mask | layout.backend_mask)).has(META)
