"""Advice where a higher-order operator has no implementation: declarations that have been tried."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.explain.advice.report import HigherOrderAdvice, ImplChange, ManualForMode
from dispatch_cli.checks.catalogue import guard, higher_order_autograd
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.fake_tensor_mode import FAKE_TENSOR
from dispatch_cli.engine.call.higher_order.handlers import FUNCTIONAL_CLASS
from dispatch_cli.engine.call.higher_order.place import AtPlace, answer_at
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import HigherOrderCall
from dispatch_cli.engine.call.thread import FAKE_TENSOR_MODE, INFRA_MODES, PROXY_MODE
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.higher_order import HigherOrderTable, Slot, problems_of
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec
from dispatch_cli.model.higher_order import (
    AUTOGRAD_NOT_IMPLEMENTED,
    FALLTHROUGH,
    FUNCTIONAL_MODE,
    HigherOrderOperator,
    ImplEdit,
    ImplKind,
    ImplPlace,
)
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.universe import AUTOGRAD, FRONT, FUNCTIONALIZE, PYTHON, UNDEFINED

MAX_ROUNDS = 3
"""Limit of rounds in which a change that leads to another missing implementation is completed."""
DEFAULT = "CompositeExplicitAutograd"
_JUDGES = (higher_order_autograd.CHECK, guard.CHECK)
"""The checks that a change must not fail; the others speak of any operator that a backend has."""
_TRANSFORMS = {"Vmap": "vmap", "Grad": "grad", "Jvp": "jvp", FUNCTIONALIZE: "functionalize"}
"""Each transform that a call can be in, and the context."""


def advice_for(state: State, operator: HigherOrderOperator, place: ImplPlace) -> HigherOrderAdvice:
    """Advice for a place where a call fails."""
    table = state.higher_order_table(operator)
    if place == (ImplKind.SUBCLASS, FUNCTIONAL_CLASS):
        return HigherOrderAdvice(manual=ManualForMode.UNWRAP)
    if place.name == UNDEFINED:  # no implementation can be declared there
        return HigherOrderAdvice(manual=ManualForMode.NOTHING)
    changes = [change for edits in _remedies(table, place) if (change := _tried(state, operator, place, edits))]
    manual = None
    if place.kind is ImplKind.MODE and place.name not in INFRA_MODES:
        manual = ManualForMode.SUPPORT
    elif not changes:
        manual = ManualForMode.NOTHING
    return HigherOrderAdvice(tuple(changes), manual)


def _remedies(table: HigherOrderTable, place: ImplPlace) -> Iterator[tuple[ImplEdit, ...]]:
    """Registrations that are worth a try at a place, the best one first."""
    universe, operator, (kind, name) = table.universe, table.operator.name, place

    def own(kind: ImplKind, name: str, word: str, redispatches: bool = False) -> tuple[ImplEdit, ...]:
        return (ImplEdit(operator, kind, name, f"{operator}_{word}".lower(), redispatches),)

    if name in (FUNCTIONALIZE, FUNCTIONAL_MODE):
        yield own(ImplKind.FUNCTIONALIZE, "", "functionalize", True)
    elif kind is ImplKind.SUBCLASS and name == FAKE_TENSOR:
        yield own(ImplKind.MODE, FAKE_TENSOR_MODE, "fake")
    elif kind is not ImplKind.DISPATCH:
        # a mode that traces calls the operator again to get a result
        again = kind is ImplKind.TRANSFORM or name == PROXY_MODE
        yield own(kind, name, "fake" if name == FAKE_TENSOR_MODE else name, again)
    elif name in universe.covered_by(AUTOGRAD):
        yield (ImplEdit(operator, ImplKind.AUTOGRAD, "", f"{operator}_autograd"),)
        yield (ImplEdit(operator, ImplKind.AUTOGRAD, "", AUTOGRAD_NOT_IMPLEMENTED, deferred_error=True),)
    elif name in universe.covered_by(DEFAULT):
        yield own(ImplKind.DISPATCH, DEFAULT, "impl")
        yield own(ImplKind.DISPATCH, name, name)
    elif name not in (PYTHON, FRONT):
        yield (ImplEdit(operator, ImplKind.DISPATCH, name, FALLTHROUGH),)
        yield own(ImplKind.DISPATCH, name, name, True)


def _tried(
    state: State, operator: HigherOrderOperator, place: ImplPlace, edits: tuple[ImplEdit, ...]
) -> ImplChange | None:
    """A change that holds, completed where a call takes more; None where it does not hold."""
    for _ in range(MAX_ROUNDS):
        added = HigherOrderOperator(operator.name, tuple(edit.impl for edit in edits), adds=True)
        if any(problems_of((added,), (operator,))):
            return None
        changed = operator._replace(impls=operator.impls + added.impls, adds=False)
        after = _with(state, changed)
        table = after.higher_order_table(changed)
        if answer_at(table, place, after.modes).found is AtPlace.ERROR:
            return None
        call = call_to(after, changed, place)
        missing = None if call is None else _missing(table, call)
        if missing is None:
            if (call is not None and call.end.error is not None) or _new_findings(state, operator, after, changed):
                return None
            return ImplChange(edits, _changed(state.higher_order_table(operator), table, place))
        if missing in edits:
            return None
        edits = (*edits, missing)
    return None


def _with(state: State, operator: HigherOrderOperator) -> State:
    declared = state.declarations
    after = declared._replace(higher_order_operators=(*declared.higher_order_operators, operator))
    return State(state.dispatcher, state.overrides, state.base, state.source, after)


def call_to(state: State, operator: HigherOrderOperator, place: ImplPlace) -> HigherOrderCall | None:
    """A call that gets to a place; None where nothing here makes one."""
    asked = _question(state, operator, place)
    if asked is None:
        return None
    try:
        return simulate_higher_order(
            state, operator, (TensorSpec.parse(asked[0]),), tuple(map(Context.parse, asked[1]))
        )
    except CallError:
        return None


def _question(state: State, operator: HigherOrderOperator, place: ImplPlace) -> tuple[str, tuple[str, ...]] | None:
    """The tensor and the contexts of such a call."""
    universe, table = state.dispatcher.universe, state.higher_order_table(operator)
    device = next(
        (name for name, key in universe.devices.items() if key in universe.slot and table.entry(key).slot is Slot.IMPL),
        "cpu",
    )
    match place.kind:
        case ImplKind.MODE:
            return f"{device}{' fake' if place.name == FAKE_TENSOR_MODE else ''}", (f"mode={place.name}",)
        case ImplKind.SUBCLASS:
            return f"{device} {'fake' if place.name == FAKE_TENSOR else f'subclass={place.name}'}", ()
        case ImplKind.TRANSFORM if place.name in _TRANSFORMS:
            return device, (_TRANSFORMS[place.name],)
        case ImplKind.DISPATCH:
            own_device = next((name for name, key in universe.devices.items() if key == place.name), None)
            return None if own_device is None else (own_device, ())
        case _:
            return None


def _missing(table: HigherOrderTable, call: HigherOrderCall) -> ImplEdit | None:
    """The implementation for want of which a call fails further on."""
    last, name = call.hops[-1], table.operator.name
    if call.end.error is None or last.entry is None or last.entry.impl is not None:
        return None
    if last.key in table.universe.covered_by(AUTOGRAD):
        return ImplEdit(name, ImplKind.AUTOGRAD, "", AUTOGRAD_NOT_IMPLEMENTED, deferred_error=True)
    if last.key in table.universe.covered_by(DEFAULT):
        return ImplEdit(name, ImplKind.DISPATCH, last.key, f"{name}_{last.key}".lower(), False)
    return None


def _changed(before: HigherOrderTable, after: HigherOrderTable, place: ImplPlace) -> tuple[str, ...]:
    """The other slots with another answer."""
    pairs = zip(before.entries(), after.entries(), strict=True)
    own = place.name if place.kind is ImplKind.DISPATCH else None
    return tuple(old.key for old, new in pairs if (old.slot, old.impl) != (new.slot, new.impl) and old.key != own)


def _new_findings(
    state: State, operator: HigherOrderOperator, after: State, changed: HigherOrderOperator
) -> frozenset[tuple[str | None, ...]]:
    """Subjects of the findings of severity warning and worse that a change causes."""
    return _findings(after, changed) - _findings(state, operator)


def _findings(state: State, operator: HigherOrderOperator) -> frozenset[tuple[str | None, ...]]:
    own = operator._replace(is_own=True)
    view = View(state, (), frozenset((OperatorName(operator.name),)), higher_order=(own,))
    findings = (finding for check in _JUDGES for finding in check.find(view))
    return frozenset(finding.identity for finding in findings if finding.severity is not Severity.INFO)
