"""Higher-order operators: their rules, and what a call finds at each slot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.higher_order import HigherOrderEntry, HigherOrderTable, Slot, places
from dispatch_cli.model.higher_order import HigherOrderImpl, HigherOrderOperator, ImplKind
from dispatch_cli.model.span import Span
from dispatch_cli.report.folding import Runs


class RuleRow(NamedTuple):
    """One rule. keys: the dispatch keys, modes and so on at which it is registered; fills: slots in which it runs."""

    rule: HigherOrderImpl
    keys: tuple[str, ...]
    fills: int


class HigherOrderRules(NamedTuple):
    """A higher-order operator with its rules, in the order of registration.

    fallthrough: the keys that fall through in it by default, and still do.
    """

    name: str
    rules: tuple[RuleRow, ...]
    side_effect: bool
    span: Span | None
    fallthrough: tuple[str, ...]


class HigherOrderSlots(NamedTuple):
    """What a call of a higher-order operator finds at each slot, in table order, after the key filter."""

    rules: HigherOrderRules
    entries: tuple[HigherOrderEntry, ...]

    @property
    def counts(self) -> Counter[Slot]:
        """How many slots there are of each kind."""
        return Counter(entry.slot for entry in self.entries)


class HigherOrderReport(NamedTuple):
    """The tables of the higher-order operators asked for, computed as they are read."""

    universe: str
    operators: tuple[HigherOrderOperator, ...]
    tables: Callable[[], Iterator[HigherOrderSlots]]


class FoldedEntry(NamedTuple):
    """A run of neighbouring slots with one answer; `first` speaks for all of them."""

    keys: tuple[str, ...]
    first: HigherOrderEntry


def rules_of(state: State, operator: HigherOrderOperator) -> HigherOrderRules:
    """The rules of an operator."""
    return _rules(state.higher_order_table(operator))


def higher_order_report(
    state: State, operators: Iterable[HigherOrderOperator], keys: frozenset[str] | None = None
) -> HigherOrderReport:
    """The tables of *operators*, of *keys* only, where given."""
    chosen = tuple(operators)
    return HigherOrderReport(
        universe=state.dispatcher.universe.name,
        operators=chosen,
        tables=lambda: (_slots(state.higher_order_table(operator), keys) for operator in chosen),
    )


def _slots(table: HigherOrderTable, keys: frozenset[str] | None) -> HigherOrderSlots:
    entries = tuple(entry for entry in table.entries() if keys is None or entry.key in keys)
    return HigherOrderSlots(_rules(table), entries)


def _rules(table: HigherOrderTable) -> HigherOrderRules:
    operator = table.operator
    fills = Counter(entry.decision.source for entry in table.entries() if entry.slot is Slot.RULE)
    return HigherOrderRules(
        name=operator.name,
        rules=tuple(_row(rule, fills) for rule in operator.rules),
        side_effect=operator.side_effect,
        span=operator.span,
        fallthrough=tuple(key for key in table.universe.higher_order_fallthrough if table.falls_through(key)),
    )


def _row(rule: HigherOrderImpl, fills: Counter[str | None]) -> RuleRow:
    at = places(rule)
    filled = sum(fills[place.name] for place in at if place.kind is ImplKind.DISPATCH)
    return RuleRow(rule, tuple(place.name for place in at) or (rule.name,), filled)


def asked_rules(rules: HigherOrderRules) -> list[RuleRow]:
    """The rules that are not found by ``resolve_key`` alone: of modes, subclasses, transforms and functionalization."""
    return [row for row in rules.rules if row.rule.kind not in (ImplKind.DISPATCH, ImplKind.AUTOGRAD)]


def fold_entries(entries: Iterable[HigherOrderEntry]) -> tuple[list[FoldedEntry], dict[Slot, Runs]]:
    """The slots at which something is done, as runs of neighbours; and the others, by what they are.

    A run goes on past missing slots, as it does in an operator's table.
    """
    rows: list[FoldedEntry] = []
    below: dict[Slot, list[list[str]]] = {}
    last: Slot | None = None
    open_run = False
    for entry in entries:
        if entry.slot in (Slot.MISSING, Slot.NO_RULE, Slot.FALLTHROUGH):
            runs = below.setdefault(entry.slot, [])
            if last is entry.slot:
                runs[-1].append(entry.key)
            else:
                runs.append([entry.key])
            open_run = open_run and entry.slot is Slot.MISSING
        elif open_run and _answer(rows[-1].first) == _answer(entry):
            rows[-1] = FoldedEntry((*rows[-1].keys, entry.key), rows[-1].first)
        else:
            rows.append(FoldedEntry((entry.key,), entry))
            open_run = True
        last = entry.slot
    return rows, {slot: tuple(map(tuple, runs)) for slot, runs in below.items()}


def _answer(entry: HigherOrderEntry) -> tuple[object, ...]:
    return entry.slot, entry.decision.rule, entry.rule, entry.error if entry.slot is Slot.AMBIGUOUS else None
