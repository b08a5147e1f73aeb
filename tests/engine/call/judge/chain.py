"""The kernels of one call, out of all those of its operator that ran inside of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.call.kernels.entry import COMPOSITES
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.model import FunctionSchema, is_mutable
from dispatch_cli.model.universe import FUNCTIONALIZE, META, PYTHON, PYTHON_DISPATCHER, UNDEFINED, backend_keys


class Ran(NamedTuple):
    """A kernel that was seen to run. raw: the key set that it got.

    depth: how many kernels of the same operator it is inside of.
    """

    slot: str
    raw: int
    redispatched: bool
    raised: bool
    depth: int


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
