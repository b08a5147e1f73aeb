"""Answer to a call of a higher-order operator at one place: a dispatch key, a mode, a subclass or a transform.

Source: ``HigherOrderOperator.__call__`` and ``dispatch`` in ``torch/_ops.py``.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.higher_order import errors
from dispatch_cli.engine.call.thread import FAKE_TENSOR, FAKE_TENSOR_MODE
from dispatch_cli.engine.call.trace import Error
from dispatch_cli.engine.python.higher_order import HigherOrderTable, Slot
from dispatch_cli.engine.rules import Decision
from dispatch_cli.model.higher_order import TRANSFORMS, HigherOrderImpl, ImplKind, ImplPlace, ModeType
from dispatch_cli.model.universe import FRONT, PYTHON


class AtPlace(Enum):
    """Kind of answer at a place; the value is the name in machine formats."""

    IMPL = "impl"
    MODE_ITSELF = "mode-itself"
    """No implementation, and the mode's own ``__torch_dispatch__`` gets the call."""
    FALLTHROUGH = "fallthrough"
    MODES = "modes"
    """The Python key: modes and subclasses are asked."""
    TRANSFORMS = "transforms"
    """FuncTorchDynamicLayerFrontMode: the innermost transform is asked."""
    ERROR = "error"


class PlaceAnswer(NamedTuple):
    """Answer at a place. decision: of ``resolve_key``, where it is asked."""

    found: AtPlace
    impl: HigherOrderImpl | None = None
    error: Error | None = None
    decision: Decision | None = None


_KEY_OF = {ImplKind.MODE: PYTHON, ImplKind.SUBCLASS: PYTHON, ImplKind.TRANSFORM: FRONT}
"""Dispatch keys at which places of other kinds are looked at."""
_ASKS = {Slot.MODES: AtPlace.MODES, Slot.TRANSFORMS: AtPlace.TRANSFORMS, Slot.FALLTHROUGH: AtPlace.FALLTHROUGH}
"""Answers of slots for which ``resolve_key`` is not asked."""


def answer_at(table: HigherOrderTable, place: ImplPlace, modes: Mapping[str, ModeType]) -> PlaceAnswer:
    """Answer to a call at a place. modes: known types of modes, by name.

    Errors: KeyError for a dispatch key without a slot.
    """
    if place.kind is ImplKind.DISPATCH:
        entry = table.entry(place.name)
        if entry.slot in _ASKS:
            return PlaceAnswer(_ASKS[entry.slot])
        if entry.impl is None:
            return PlaceAnswer(AtPlace.ERROR, error=errors.no_kernel(entry), decision=entry.decision)
        return PlaceAnswer(AtPlace.IMPL, entry.impl, None, entry.decision)
    if table.falls_through(_KEY_OF[place.kind]):
        return PlaceAnswer(AtPlace.FALLTHROUGH)
    name, operator, calls = place.name, table.operator.name, table.universe.higher_order_calls
    mode = modes.get(name)
    if place.kind is ImplKind.TRANSFORM:
        impl, error = table.transforms.get(name), errors.no_rule_for_transform(name, TRANSFORMS.index(name))
    elif place.kind is ImplKind.MODE:
        impl, error = table.modes.get(name), errors.no_rule_for_mode(calls, operator, name)
        if impl is None and calls.modes_handle and mode is not None and mode.supports_higher_order_operators:
            return PlaceAnswer(AtPlace.MODE_ITSELF)
    elif name == FAKE_TENSOR and calls.fakes_by_mode:
        impl, error = table.modes.get(FAKE_TENSOR_MODE), errors.no_rule_for_fake_tensor()
    else:
        impl, error = table.subclasses.get(name), errors.no_rule_for_subclass(calls, operator, name)
    return PlaceAnswer(AtPlace.ERROR, error=error) if impl is None else PlaceAnswer(AtPlace.IMPL, impl)
