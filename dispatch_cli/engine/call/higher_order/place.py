"""Answer to a call of a higher-order operator at one place: a dispatch key, a mode, a subclass or a transform.

Source: ``HigherOrderOperator.__call__`` and ``dispatch`` in ``torch/_ops.py``, whose steps these are.
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
from dispatch_cli.model.universe import FRONT, PRE_DISPATCH, PYTHON


class DispatchStep(Enum):
    """A step of a call; the value is the name in machine formats."""

    MASK = "mask"
    """``__call__`` takes the keys that fall through out of the key set."""
    TRANSFORM = "transform"
    """``dispatch_functorch``: at FuncTorchDynamicLayerFrontMode, the innermost transform is looked up."""
    MODE = "mode"
    """At Python, the type of the innermost mode is looked up."""
    SUBCLASS = "subclass"
    """At Python, the class of each tensor with a ``__torch_dispatch__`` is looked up."""
    PRE_DISPATCH = "pre-dispatch"
    """At PreDispatch, the type of the innermost mode of that stack is looked up, if there is one."""
    RESOLVE_KEY = "resolve-key"
    """``resolve_key`` chooses a key by the rules."""
    IMPLEMENTATION = "implementation"
    """The implementation at that key is looked up."""


class StepOutcome(Enum):
    """The outcome of a step; the value is the name in machine formats."""

    PASSES = "passes"
    DECIDES = "decides"
    RAISES = "raises"
    NOT_REACHED = "not-reached"


class DispatchLine(NamedTuple):
    """One step. looks_at: the table of the operator, and what is looked up there."""

    step: DispatchStep
    looks_at: str
    outcome: StepOutcome


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

    place: ImplPlace
    found: AtPlace
    steps: tuple[DispatchLine, ...]
    impl: HigherOrderImpl | None = None
    error: Error | None = None
    decision: Decision | None = None


_KEY_OF = {ImplKind.MODE: PYTHON, ImplKind.SUBCLASS: PYTHON, ImplKind.TRANSFORM: FRONT}
"""Dispatch keys at which places of other kinds are looked at."""


def answer_at(table: HigherOrderTable, place: ImplPlace, modes: Mapping[str, ModeType]) -> PlaceAnswer:
    """Answer to a call at a place. modes: known types of modes, by name.

    Errors: KeyError for a dispatch key without a slot.
    """
    key = _KEY_OF.get(place.kind, place.name)
    decision = table.decisions[table.universe.slot[key]] if place.kind is ImplKind.DISPATCH else None
    mask, looked = f"non_fallthrough_keys: {key}", _looked_at(table, place)
    if table.falls_through(key):
        lines = (DispatchLine(DispatchStep.MASK, mask, StepOutcome.DECIDES), looked)
        return PlaceAnswer(place, AtPlace.FALLTHROUGH, lines, decision=decision)
    if place.kind is ImplKind.MODE:
        answer = _at_mode(table, place, looked, modes)
    else:
        answer = _at_key(table, place, looked) if decision is not None else _at_class(table, place, looked)
    return answer._replace(steps=(DispatchLine(DispatchStep.MASK, mask, StepOutcome.PASSES), *answer.steps))


def _looked_at(table: HigherOrderTable, place: ImplPlace) -> DispatchLine:
    """The step at which the place is looked up; it is not reached yet."""
    match place.kind:
        case ImplKind.MODE:
            step, looks_at = DispatchStep.MODE, f"python_key_table[{place.name}]"
        case ImplKind.SUBCLASS:
            name = FAKE_TENSOR_MODE if _is_fake(table, place) else place.name
            step, looks_at = DispatchStep.SUBCLASS, f"python_key_table[{name}]"
        case ImplKind.TRANSFORM:
            step, looks_at = DispatchStep.TRANSFORM, f"functorch_table[TransformType.{place.name}]"
        case _:
            step, looks_at = DispatchStep.RESOLVE_KEY, f"resolve_key({place.name})"
    return DispatchLine(step, looks_at, StepOutcome.NOT_REACHED)


def _is_fake(table: HigherOrderTable, place: ImplPlace) -> bool:
    """True for a fake tensor, which the implementation for its mode handles."""
    return place.name == FAKE_TENSOR and table.universe.higher_order_calls.fakes_by_mode


def _at_mode(
    table: HigherOrderTable, place: ImplPlace, looked: DispatchLine, modes: Mapping[str, ModeType]
) -> PlaceAnswer:
    name, impl, mode = place.name, table.modes.get(place.name), modes.get(place.name)
    calls = table.universe.higher_order_calls
    left = DispatchLine(DispatchStep.SUBCLASS, "python_key_table[the class of each tensor]", StepOutcome.NOT_REACHED)
    passes = looked._replace(outcome=StepOutcome.PASSES)
    if impl is not None:
        decides = passes if impl.not_implemented else looked._replace(outcome=StepOutcome.DECIDES)
        return PlaceAnswer(place, AtPlace.IMPL, (decides, left), impl)
    if calls.modes_handle and mode is not None and mode.supports_higher_order_operators:
        itself = DispatchLine(DispatchStep.MODE, f"{name}.supports_higher_order_operators", StepOutcome.DECIDES)
        return PlaceAnswer(place, AtPlace.MODE_ITSELF, (passes, itself, left))
    error = errors.no_rule_for_mode(calls, table.operator.name, name)
    return PlaceAnswer(place, AtPlace.ERROR, (looked._replace(outcome=StepOutcome.RAISES), left), error=error)


def _at_class(table: HigherOrderTable, place: ImplPlace, looked: DispatchLine) -> PlaceAnswer:
    """The answer for a tensor subclass, or for a functorch transform."""
    name, before = place.name, tuple[DispatchLine, ...]()
    if place.kind is ImplKind.TRANSFORM:
        impl, error = table.transforms.get(name), errors.no_rule_for_transform(name, TRANSFORMS.index(name))
    else:
        text = "no mode, or its implementation returns NotImplemented"
        before = (DispatchLine(DispatchStep.MODE, text, StepOutcome.PASSES),)
        impl = table.subclasses.get(name)
        error = errors.no_rule_for_subclass(table.universe.higher_order_calls, table.operator.name, name)
        if _is_fake(table, place):
            impl, error = table.modes.get(FAKE_TENSOR_MODE), errors.no_rule_for_fake_tensor()
    if impl is not None:
        return PlaceAnswer(place, AtPlace.IMPL, (*before, looked._replace(outcome=StepOutcome.DECIDES)), impl)
    return PlaceAnswer(place, AtPlace.ERROR, (*before, looked._replace(outcome=StepOutcome.RAISES)), error=error)


def _at_key(table: HigherOrderTable, place: ImplPlace, resolve: DispatchLine) -> PlaceAnswer:
    entry = table.entry(place.name)
    if entry.slot is Slot.TRANSFORMS:
        asked = DispatchLine(DispatchStep.TRANSFORM, "functorch_table", StepOutcome.DECIDES)
        return PlaceAnswer(place, AtPlace.TRANSFORMS, (asked, resolve))
    if entry.slot is Slot.MODES:
        asked = DispatchLine(DispatchStep.MODE, "python_key_table", StepOutcome.DECIDES)
        return PlaceAnswer(place, AtPlace.MODES, (asked, resolve))
    done: tuple[DispatchLine, ...] = ()
    if place.name == PRE_DISPATCH:
        done = (DispatchLine(DispatchStep.PRE_DISPATCH, "no mode on the PreDispatch stack", StepOutcome.PASSES),)
    final = f"py_kernels[{entry.decision.source or place.name}]"
    if entry.slot in (Slot.MISSING, Slot.AMBIGUOUS):
        outcomes = (StepOutcome.RAISES, StepOutcome.NOT_REACHED)
    else:
        outcomes = (StepOutcome.PASSES, StepOutcome.RAISES if entry.impl is None else StepOutcome.DECIDES)
    looked = DispatchLine(DispatchStep.IMPLEMENTATION, final, outcomes[1])
    steps = (*done, resolve._replace(outcome=outcomes[0]), looked)
    if entry.impl is None:
        return PlaceAnswer(place, AtPlace.ERROR, steps, error=errors.no_kernel(entry), decision=entry.decision)
    return PlaceAnswer(place, AtPlace.IMPL, steps, entry.impl, None, entry.decision)
