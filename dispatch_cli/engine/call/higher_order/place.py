"""Answer to a call of a higher-order operator at one place: a dispatch key, a mode, a subclass or a transform.

Source: ``HigherOrderOperator.__call__`` and ``dispatch`` in ``torch/_ops.py``, whose steps these are.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.fake_tensor_mode import FAKE_TENSOR
from dispatch_cli.engine.call.higher_order import errors
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE
from dispatch_cli.engine.call.trace import Error
from dispatch_cli.engine.python.higher_order import HigherOrderTable, Slot
from dispatch_cli.engine.rules import Decision
from dispatch_cli.model.higher_order import TRANSFORMS, HigherOrderImpl, ImplKind, ImplPlace, ModeType
from dispatch_cli.model.universe import FRONT, PRE_DISPATCH, PYTHON

_MASK = "non_fallthrough_keys"


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


def answer_at(table: HigherOrderTable, place: ImplPlace, modes: Mapping[str, ModeType]) -> PlaceAnswer:
    """Answer to a call at a place. modes: known types of modes, by name.

    Errors: KeyError for a dispatch key without a slot.
    """
    match place.kind:
        case ImplKind.MODE:
            return _at_mode(table, place, modes)
        case ImplKind.SUBCLASS:
            return _at_subclass(table, place)
        case ImplKind.TRANSFORM:
            return _at_transform(table, place)
        case _:
            return _at_key(table, place)


def _lines(
    *done: tuple[DispatchStep, str, StepOutcome], left: tuple[DispatchStep, str] | None = None
) -> tuple[DispatchLine, ...]:
    lines = [DispatchLine(*step) for step in done]
    if left is not None:
        lines.append(DispatchLine(*left, StepOutcome.NOT_REACHED))
    return tuple(lines)


def _masked(table: HigherOrderTable, place: ImplPlace, key: str, next_step: tuple[DispatchStep, str]) -> PlaceAnswer:
    lines = _lines((DispatchStep.MASK, f"{_MASK}: {key}", StepOutcome.DECIDES), left=next_step)
    decision = table.decisions[table.universe.slot[key]] if place.kind is ImplKind.DISPATCH else None
    return PlaceAnswer(place, AtPlace.FALLTHROUGH, lines, decision=decision)


def _at_mode(table: HigherOrderTable, place: ImplPlace, modes: Mapping[str, ModeType]) -> PlaceAnswer:
    name, impl = place.name, table.modes.get(place.name)
    looked = (DispatchStep.MODE, f"python_key_table[{name}]")
    if table.falls_through(PYTHON):
        return _masked(table, place, PYTHON, looked)
    passed = (DispatchStep.MASK, f"{_MASK}: {PYTHON}", StepOutcome.PASSES)
    next_step = (DispatchStep.SUBCLASS, "python_key_table[the class of each tensor]")
    if impl is not None:
        outcome = StepOutcome.PASSES if impl.not_implemented else StepOutcome.DECIDES
        return PlaceAnswer(place, AtPlace.IMPL, _lines(passed, (*looked, outcome), left=next_step), impl)
    mode = modes.get(name)
    calls = table.universe.higher_order_calls
    if calls.modes_handle and mode is not None and mode.supports_higher_order_operators:
        itself = (DispatchStep.MODE, f"{name}.supports_higher_order_operators", StepOutcome.DECIDES)
        steps = _lines(passed, (*looked, StepOutcome.PASSES), itself, left=next_step)
        return PlaceAnswer(place, AtPlace.MODE_ITSELF, steps)
    steps = _lines(passed, (*looked, StepOutcome.RAISES), left=next_step)
    return PlaceAnswer(place, AtPlace.ERROR, steps, error=errors.no_rule_for_mode(calls, table.operator.name, name))


def _at_subclass(table: HigherOrderTable, place: ImplPlace) -> PlaceAnswer:
    """A fake tensor is handled by the implementation for its mode."""
    calls = table.universe.higher_order_calls
    fake = place.name == FAKE_TENSOR and calls.fakes_by_mode
    name = FAKE_TENSOR_MODE if fake else place.name
    impl = (table.modes if fake else table.subclasses).get(name)
    looked = (DispatchStep.SUBCLASS, f"python_key_table[{name}]")
    if table.falls_through(PYTHON):
        return _masked(table, place, PYTHON, looked)
    passed = (
        (DispatchStep.MASK, f"{_MASK}: {PYTHON}", StepOutcome.PASSES),
        (DispatchStep.MODE, "no mode, or its implementation returns NotImplemented", StepOutcome.PASSES),
    )
    if impl is not None:
        return PlaceAnswer(place, AtPlace.IMPL, _lines(*passed, (*looked, StepOutcome.DECIDES)), impl)
    operator = table.operator.name
    error = errors.no_rule_for_fake_tensor() if fake else errors.no_rule_for_subclass(calls, operator, name)
    return PlaceAnswer(place, AtPlace.ERROR, _lines(*passed, (*looked, StepOutcome.RAISES)), error=error)


def _at_transform(table: HigherOrderTable, place: ImplPlace) -> PlaceAnswer:
    name, impl = place.name, table.transforms.get(place.name)
    looked = (DispatchStep.TRANSFORM, f"functorch_table[TransformType.{name}]")
    if table.falls_through(FRONT):
        return _masked(table, place, FRONT, looked)
    passed = (DispatchStep.MASK, f"{_MASK}: {FRONT}", StepOutcome.PASSES)
    if impl is not None:
        return PlaceAnswer(place, AtPlace.IMPL, _lines(passed, (*looked, StepOutcome.DECIDES)), impl)
    error = errors.no_rule_for_transform(name, TRANSFORMS.index(name))
    return PlaceAnswer(place, AtPlace.ERROR, _lines(passed, (*looked, StepOutcome.RAISES)), error=error)


def _at_key(table: HigherOrderTable, place: ImplPlace) -> PlaceAnswer:
    key = place.name
    entry = table.entry(key)
    resolve = (DispatchStep.RESOLVE_KEY, f"resolve_key({key})")
    if entry.slot is Slot.FALLTHROUGH:
        return _masked(table, place, key, resolve)
    passed = (DispatchStep.MASK, f"{_MASK}: {key}", StepOutcome.PASSES)
    if entry.slot is Slot.TRANSFORMS:
        steps = _lines(passed, (DispatchStep.TRANSFORM, "functorch_table", StepOutcome.DECIDES), left=resolve)
        return PlaceAnswer(place, AtPlace.TRANSFORMS, steps)
    if entry.slot is Slot.MODES:
        steps = _lines(passed, (DispatchStep.MODE, "python_key_table", StepOutcome.DECIDES), left=resolve)
        return PlaceAnswer(place, AtPlace.MODES, steps)
    done = [passed]
    if key == PRE_DISPATCH:
        done.append((DispatchStep.PRE_DISPATCH, "no mode on the PreDispatch stack", StepOutcome.PASSES))
    decision, final = entry.decision, (DispatchStep.IMPLEMENTATION, f"py_kernels[{entry.decision.source or key}]")
    if entry.slot in (Slot.MISSING, Slot.AMBIGUOUS):
        steps = _lines(*done, (*resolve, StepOutcome.RAISES), left=final)
        return PlaceAnswer(place, AtPlace.ERROR, steps, error=errors.no_kernel(entry), decision=decision)
    done.append((*resolve, StepOutcome.PASSES))
    if entry.impl is None:
        steps = _lines(*done, (*final, StepOutcome.RAISES))
        return PlaceAnswer(place, AtPlace.ERROR, steps, error=errors.no_kernel(entry), decision=decision)
    return PlaceAnswer(place, AtPlace.IMPL, _lines(*done, (*final, StepOutcome.DECIDES)), entry.impl, None, decision)
