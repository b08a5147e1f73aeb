"""Guards for what higher-order operators have now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.answers.findings.guards.recorded import GuardFact
from dispatch_cli.answers.shared.key_terms import key_terms
from dispatch_cli.checks.view import View
from dispatch_cli.engine.call.higher_order.place import AtPlace, answer_at
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.higher_order import HigherOrderTable
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.guard import Guard
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind, ImplPlace


def recorded_higher_order_guards(
    state: State,
    operators: Iterable[HigherOrderOperator],
    keys: frozenset[str] | None,
    named: bool = False,
) -> Iterator[Guard]:
    """Guards for what the implementations do now: one for each, at all its keys, modes, subclasses and transforms.

    An operator that the user's own files say nothing of is guarded when it is *named*, or there are no such files.

    keys: the slots to guard, and then nothing else; None for all. The implementations of PyTorch's own operators are
    free.
    """
    takes_all = named or not View(state, ()).has_files
    for operator in (operator for operator in operators if takes_all or operator.is_own):
        yield from _of_operator(state, operator, keys)


def _of_operator(state: State, operator: HigherOrderOperator, keys: frozenset[str] | None) -> Iterator[Guard]:
    kernels = operator.is_own
    table = state.higher_order_table(operator)
    slots: dict[GuardFact, list[str]] = {}
    for key in table.universe.slots:
        answer = answer_at(table, ImplPlace(ImplKind.DISPATCH, key), state.modes)
        if answer.found is not AtPlace.IMPL or answer.decision is None or (keys is not None and key not in keys):
            continue
        assert answer.impl is not None, "an implementation is found"
        source = answer.decision.source
        alias = source if source is not None and table.universe.is_alias(source) else None
        slots.setdefault(_fact(answer.decision.rule, answer.impl, kernels, alias), []).append(key)
    for impl in operator.impls:
        if impl.fallthrough and (keys is None or impl.name in keys):
            slots.setdefault(GuardFact(Rule.KERNEL, None, True), []).append(impl.name)
    places = _places(state, table, kernels) if keys is None else {}
    for fact in dict.fromkeys((*slots, *places)):
        terms = key_terms(table.universe, slots.get(fact, ()), fact.alias)
        # what a call never arrives at is guarded as such: the rule does not count
        wants = fact.wants[1:] if fact.fallthrough else fact.wants
        of_fact = tuple(places.get(fact, ()))
        yield Guard((operator.name,), terms.keys, wants, places=of_fact, excepted=terms.excepted)


def _places(state: State, table: HigherOrderTable, kernels: bool) -> dict[GuardFact, list[ImplPlace]]:
    """Modes, subclasses and transforms by the implementation that runs there, which can be that of another place."""
    by_fact: dict[GuardFact, list[ImplPlace]] = {}
    tables = {
        ImplKind.MODE: table.modes,
        ImplKind.SUBCLASS: table.subclasses,
        ImplKind.TRANSFORM: table.transforms,
    }
    for place in (ImplPlace(kind, name) for kind, impls in tables.items() for name in impls):
        answer = answer_at(table, place, state.modes)
        if answer.found is AtPlace.IMPL and answer.impl is not None:
            by_fact.setdefault(_fact(Rule.KERNEL, answer.impl, kernels, None), []).append(place)
    return by_fact


def _fact(rule: Rule, impl: HigherOrderImpl, kernels: bool, alias: str | None) -> GuardFact:
    return GuardFact(rule, impl.kernel if kernels else None, False, alias)
