"""A higher-order operator at one place, explained: the answer and the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.explain.rule_steps import STATES, RuleLine, RuleState
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import HigherOrderRow
from dispatch_cli.answers.table.higher_order_report import ImplRow, impls_of, row_of
from dispatch_cli.engine.call.higher_order.handlers import FUNCTIONAL_CLASS
from dispatch_cli.engine.call.higher_order.place import AtPlace, PlaceAnswer, answer_at
from dispatch_cli.engine.call.thread import FAKE_TENSOR, INFRA_MODES
from dispatch_cli.engine.python.higher_order import HigherOrderTable
from dispatch_cli.engine.python.table import steps_for
from dispatch_cli.engine.rules import MISSING_NUMBER, Outcome, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import FUNCTIONAL_MODE, TRANSFORMS, HigherOrderOperator, ImplKind, ImplPlace
from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.span import Span
from dispatch_cli.model.text.suggest import suggestion
from dispatch_cli.model.universe import AUTOGRAD, AUTOGRAD_OTHER, FRONT, FUNCTIONALIZE, PYTHON, UNDEFINED, Universe

DEFAULT = "CompositeExplicitAutograd"
_PREFIXES = ("mode", "subclass", "transform")


def place_named(state: State, operator: HigherOrderOperator, text: str) -> ImplPlace:
    """The place that a text names: a dispatch key, or a mode, subclass or transform. Errors: InputError.

    A class may have its module before it, and the word for what it is: ``mode=MyMode``.
    """
    prefix, sign, rest = text.partition("=")
    kind = ImplKind(prefix) if sign and prefix in _PREFIXES else None
    universe = state.dispatcher.universe
    name = rest.rpartition(".")[2] if kind is not None else universe.key_named(text).rpartition(".")[2]
    if kind is None and universe.has_key(name):
        # Functionalize is a key and a transform, which is asked for by transform=Functionalize
        return ImplPlace(ImplKind.DISPATCH, name)
    known = _known(state, operator)
    if kind is None:
        kind = next((candidate for candidate, names in known.items() if name in names), None)
    if kind is ImplKind.TRANSFORM and name not in TRANSFORMS:
        message = f"there is no functorch transform {name[:200]!r}"
        raise InputError((Problem("unknown-place", message, hint=f"the transforms are {', '.join(TRANSFORMS)}"),))
    if kind is not None and name.isidentifier():
        return ImplPlace(kind, name)
    names = [
        *universe.slots,
        *universe.aliases,
        *universe.per_backend,
        *(choice for some in known.values() for choice in some),
    ]
    message = (
        f"{operator.name} is a higher-order operator, but {text[:200]!r} is not a dispatch key of {universe.name}, "
        "nor a known mode, subclass or transform"
    )
    hint = suggestion(name, names, 3) or "write your own class as mode=NAME or subclass=NAME"
    raise InputError((Problem("unknown-place", message, hint=hint),))


def _known(state: State, operator: HigherOrderOperator) -> dict[ImplKind, Iterable[str]]:
    """Names that are known of each kind, which need no word for the kind before them."""
    table = state.higher_order_table(operator)
    return {
        ImplKind.MODE: dict.fromkeys((*INFRA_MODES, *table.modes, *state.modes)),
        ImplKind.SUBCLASS: dict.fromkeys((FAKE_TENSOR, FUNCTIONAL_CLASS, *table.subclasses)),
        ImplKind.TRANSFORM: TRANSFORMS,
    }


class PlaceRow(NamedTuple):
    """The result of a call at the place.

    kernel: the implementation; span: where it is declared. rule, rule_number, source: what ``resolve_key`` decides,
    where it is asked. error_type, error: what PyTorch raises.
    """

    found: AtPlace
    kernel: str | None
    span: Span | None
    rule: Rule | None
    rule_number: int | None
    source: str | None
    error_type: str | None
    error: str | None


class ImplHelp(Enum):
    """A change that helps where a call fails; the value is the name in machine formats.

    HERE: an implementation for the place itself. NO_DERIVATIVE: one that raises in the backward pass.
    SUPPORT: the mode handles higher-order operators in its ``__torch_dispatch__``. UNWRAP: an implementation for
    functionalization removes the wrapper before it calls the operator again.
    """

    FALL_THROUGH = "fall-through"
    DERIVATIVE = "register-derivative"
    NO_DERIVATIVE = "register-no-derivative"
    EVERY_BACKEND = "register-for-every-backend"
    HERE = "register-here"
    FUNCTIONALIZE = "register-functionalization"
    FAKE = "register-fake"
    SUPPORT = "support-higher-order-operators"
    UNWRAP = "unwrap-functional-tensors"


@dataclass(frozen=True, slots=True)
class ExplainHigherOrderReport(StartsFrom):
    """The answer to "which implementation runs here, and why?".

    kind, name: the place; an alias key or a functionality has no answer of its own but *slots*.
    rules: of ``resolve_key``. impls: all that the operator has.
    advice: changes that help where a call fails, the best one first; None elsewhere.
    """

    REPORT: ClassVar[str] = "explain-higher-order"

    operator: str
    side_effect: bool
    mutates: bool
    span: Span | None
    kind: ImplKind
    name: str
    answer: PlaceRow | None
    rules: tuple[RuleLine, ...]
    slots: tuple[HigherOrderRow, ...]
    impls: tuple[ImplRow, ...]
    advice: tuple[ImplHelp, ...] | None


def explain_higher_order(state: State, operator: HigherOrderOperator, place: ImplPlace) -> ExplainHigherOrderReport:
    """Explain an operator at a place. A dispatch key may be an alias key or a functionality of the universe."""
    table = state.higher_order_table(operator)
    universe = table.universe
    (impls,) = impls_of(state, (operator,))
    slots: tuple[HigherOrderRow, ...] = ()
    answer: PlaceAnswer | None = None
    if place.kind is ImplKind.DISPATCH and place.name not in universe.slot:
        keys = universe.covered_by(place.name) if universe.is_alias(place.name) else universe.per_backend[place.name]
        slots = tuple(row_of(table.entry(key)) for key in keys)
    else:
        answer = answer_at(table, place, state.modes)
    asks_rules = answer is not None and answer.decision is not None
    return ExplainHigherOrderReport(
        *starts_from(state),
        operator=operator.name,
        side_effect=operator.side_effect,
        mutates=operator.mutates,
        span=operator.span,
        kind=place.kind,
        name=place.name,
        answer=None if answer is None else _row(answer),
        rules=tuple(_rules(state, table, place.name)) if asks_rules else (),
        slots=slots,
        impls=impls.impls,
        advice=None if answer is None or answer.found is not AtPlace.ERROR else tuple(_helps(universe, place)),
    )


def _helps(universe: Universe, place: ImplPlace) -> Iterator[ImplHelp]:
    """Changes that make a call at a place work; none where no implementation can be declared."""
    kind, name = place
    if kind is ImplKind.SUBCLASS and name == FUNCTIONAL_CLASS:
        yield ImplHelp.UNWRAP
    elif name in (FUNCTIONALIZE, FUNCTIONAL_MODE):
        yield ImplHelp.FUNCTIONALIZE
    elif kind is ImplKind.SUBCLASS and name == FAKE_TENSOR:
        yield ImplHelp.FAKE
    elif kind is not ImplKind.DISPATCH:
        yield ImplHelp.HERE
        if kind is ImplKind.MODE and name not in INFRA_MODES:
            yield ImplHelp.SUPPORT
    elif name == AUTOGRAD_OTHER:  # it may be ambiguous: then a derivative does not come in
        yield ImplHelp.HERE
    elif name in universe.covered_by(AUTOGRAD):
        yield from (ImplHelp.DERIVATIVE, ImplHelp.NO_DERIVATIVE)
    elif name in universe.covered_by(DEFAULT):
        yield from (ImplHelp.EVERY_BACKEND, ImplHelp.HERE)
    elif name not in (PYTHON, FRONT, UNDEFINED):
        yield from (ImplHelp.FALL_THROUGH, ImplHelp.HERE)


def _row(answer: PlaceAnswer) -> PlaceRow:
    impl, decision, error = answer.impl, answer.decision, answer.error
    return PlaceRow(
        found=answer.found,
        kernel=None if impl is None else impl.kernel,
        span=None if impl is None else impl.span,
        rule=None if decision is None else decision.rule,
        rule_number=None if decision is None else decision.number,
        source=None if decision is None else decision.source,
        error_type=None if error is None else error.type,
        error=None if error is None else error.text,
    )


def _rules(state: State, table: HigherOrderTable, key: str) -> Iterator[RuleLine]:
    """The rules up to the one that fires."""
    fired = False
    for step, blockers in steps_for(table.universe, table.kernels, key, key in state.dispatcher.fallbacks):
        fired = fired or step.outcome is Outcome.FIRED
        yield RuleLine(step.number, step.rule, (step.key or key,), STATES[step.outcome], True, blockers)
    if not fired:
        yield RuleLine(MISSING_NUMBER, Rule.MISSING, (), RuleState.FIRED, True)
