"""Higher-order operators: their implementations, and what a call finds at each slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from dispatch_cli.answers.shared.slot_row import Folding, HigherOrderRow, answer_of, fold
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, HigherOrderTable, Slot, places
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind
from dispatch_cli.model.span import Span


class ImplRow(NamedTuple):
    """One implementation.

    errors: the texts of what it raises, by place; ``everywhere`` for all places.
    registered_at: the dispatch keys, modes and so on where it is found. fills: the slots in which it runs.
    """

    kind: ImplKind
    name: str
    kernel: str
    fallthrough: bool
    redispatches: bool | Literal["raises"] | None
    errors: Mapping[str, str]
    returns_not_implemented: bool
    deferred_error: bool | None
    span: Span | None
    registered_at: tuple[str, ...]
    fills: int


class HigherOrderImpls(NamedTuple):
    """A higher-order operator with its implementations, in the order of registration.

    default_fallthrough: the keys that fall through in it by default, and still do.
    """

    name: str
    impls: tuple[ImplRow, ...]
    default_fallthrough: tuple[str, ...]
    side_effect: bool
    mutates: bool
    span: Span | None


class HigherOrderSlots(NamedTuple):
    """The result of a call of a higher-order operator at each slot, in table order, after the key filter.

    The other fields are those of `HigherOrderImpls`.
    """

    name: str
    impls: tuple[ImplRow, ...]
    default_fallthrough: tuple[str, ...]
    side_effect: bool
    mutates: bool
    span: Span | None
    entries: tuple[HigherOrderRow, ...]


class HigherOrderSummary(NamedTuple):
    """Number of slots of each kind that a higher-order operator has. by_rule: by the rule of ``resolve_key``."""

    name: str
    span: Span | None
    slots: Mapping[Slot, int]
    by_rule: Mapping[Rule, int]


def impls_of(state: State, operators: Iterable[HigherOrderOperator]) -> tuple[HigherOrderImpls, ...]:
    """The implementations of each operator."""
    return tuple(_impls(state.higher_order_table(operator)) for operator in operators)


def slots_of(
    state: State, operators: Iterable[HigherOrderOperator], keys: frozenset[str] | None = None
) -> tuple[HigherOrderSlots, ...]:
    """The tables of *operators*, of *keys* only, where given."""
    tables = map(state.higher_order_table, operators)
    return tuple(HigherOrderSlots(*_impls(table), tuple(map(row_of, _entries(table, keys)))) for table in tables)


def summaries_of(
    state: State, operators: Iterable[HigherOrderOperator], keys: frozenset[str] | None = None
) -> tuple[HigherOrderSummary, ...]:
    """A summary of each table."""
    summaries = []
    for table in map(state.higher_order_table, operators):
        entries = _entries(table, keys)
        slots, rules = Counter(entry.slot for entry in entries), Counter(entry.decision.rule for entry in entries)
        by_slot, by_rule = {slot: slots[slot] for slot in Slot}, {rule: rules[rule] for rule in Rule}
        summaries.append(HigherOrderSummary(table.operator.name, table.operator.span, by_slot, by_rule))
    return tuple(summaries)


def _entries(table: HigherOrderTable, keys: frozenset[str] | None) -> list[HigherOrderEntry]:
    return [entry for entry in table.entries() if keys is None or entry.key in keys]


def row_of(entry: HigherOrderEntry) -> HigherOrderRow:
    """An entry as a row."""
    decision, impl = entry.decision, entry.impl
    return HigherOrderRow(
        key=entry.key,
        rule=decision.rule,
        rule_number=decision.number,
        kernel=None if impl is None else impl.kernel,
        fallthrough=entry.slot is Slot.FALLTHROUGH,
        source=decision.source,
        blockers=(),
        core_fallback=False,
        span=None if impl is None else impl.span,
        error=entry.error,
        slot=entry.slot,
    )


def _impls(table: HigherOrderTable) -> HigherOrderImpls:
    operator = table.operator
    fills = Counter(entry.decision.source for entry in table.entries() if entry.slot is Slot.IMPL)
    return HigherOrderImpls(
        name=operator.name,
        impls=tuple(_impl(impl, fills) for impl in operator.impls),
        default_fallthrough=tuple(key for key in table.universe.higher_order_fallthrough if table.falls_through(key)),
        side_effect=operator.side_effect,
        mutates=operator.mutates,
        span=operator.span,
    )


def _impl(impl: HigherOrderImpl, fills: Counter[str | None]) -> ImplRow:
    at = places(impl)
    return ImplRow(
        kind=impl.kind,
        name=impl.name,
        kernel=impl.kernel,
        fallthrough=impl.fallthrough,
        redispatches="raises" if impl.raises else impl.redispatches,
        errors={place or "everywhere": text for place, text in impl.errors},
        returns_not_implemented=impl.not_implemented,
        deferred_error=impl.deferred_error,
        span=impl.span,
        registered_at=tuple(place.name for place in at) or (impl.name,),
        fills=sum(fills[place.name] for place in at if place.kind is ImplKind.DISPATCH),
    )


def asked_impls(impls: Iterable[ImplRow]) -> list[ImplRow]:
    """Implementations not found by ``resolve_key`` alone: of modes, subclasses, transforms and functionalization."""
    return [row for row in impls if row.kind not in (ImplKind.DISPATCH, ImplKind.AUTOGRAD)]


ASIDE = (Slot.FALLTHROUGH, Slot.NO_IMPL, Slot.MISSING)
"""Slots at which nothing is done, which are not worth a row."""


def fold_slots(entries: Sequence[HigherOrderRow]) -> Folding[HigherOrderRow]:
    """Fold a table."""
    return fold(entries, answer_of, lambda row: row.slot if row.slot in ASIDE else None, {Slot.MISSING})
