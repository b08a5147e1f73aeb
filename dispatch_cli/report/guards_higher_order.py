"""Guards for what higher-order operators have now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dispatch_cli.checks.guarding_higher_order import held_rule
from dispatch_cli.engine.call.higher_order.place import AtPlace, answer_at
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.guard import Expectation, Guard, GuardField
from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace


def recorded_higher_order_guards(
    state: State, operators: Iterable[HigherOrderOperator], keys: frozenset[str] | None, kernels: bool
) -> Iterator[Guard]:
    """Guards for what is found at the slots, and for what modes, subclasses and transforms have.

    keys: the slots to guard, and then nothing else; None for all. kernels: whether the kernels are to stay, and not
    only the rules.
    """
    for operator in operators:
        yield from _of_slots(state, operator, keys, kernels)
        if keys is None:
            yield from _of_places(state, operator, kernels)


def _of_slots(
    state: State, operator: HigherOrderOperator, keys: frozenset[str] | None, kernels: bool
) -> Iterator[Guard]:
    table = state.higher_order_table(operator)
    found: dict[tuple[Expectation, ...], list[str]] = {}
    for key in table.universe.slots:
        if keys is not None and key not in keys:
            continue
        answer = answer_at(table, ImplPlace(ImplKind.DISPATCH, key), state.modes)
        if answer.found in (AtPlace.MODES, AtPlace.TRANSFORMS):
            continue
        if answer.found is AtPlace.FALLTHROUGH:
            wants: tuple[Expectation, ...] = (Expectation(GuardField.FALLTHROUGH, ("true",)),)
        else:
            kernel = None if answer.impl is None or not kernels else answer.impl.kernel
            wants = _wants(held_rule(answer).value, kernel)
        found.setdefault(wants, []).append(key)
    for wants, some in found.items():
        yield Guard((operator.name,), tuple(some), wants)


def _of_places(state: State, operator: HigherOrderOperator, kernels: bool) -> Iterator[Guard]:
    table = state.higher_order_table(operator)
    tables = {
        ImplKind.MODE: table.modes,
        ImplKind.SUBCLASS: table.subclasses,
        ImplKind.TRANSFORM: table.transforms,
    }
    for kind, impls in tables.items():
        for name, impl in impls.items():
            wants = _wants("kernel", impl.kernel if kernels else None)
            yield Guard((operator.name,), (), wants, places=(ImplPlace(kind, name),))


def _wants(rule: str, kernel: str | None) -> tuple[Expectation, ...]:
    wants = (Expectation(GuardField.RULE, (rule,)),)
    return wants if kernel is None else (*wants, Expectation(GuardField.KERNEL, (kernel,)))
