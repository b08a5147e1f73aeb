"""The computed dispatch table as a report: one row per slot, with the rule and the declaration behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table import table as engine
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.origin import OWN, Origin
from dispatch_cli.model.span import Span
from dispatch_cli.report.notes import Note, table_notes

SCHEMA_VERSION = 1


class Before(NamedTuple):
    """What a slot held in the state that the files are laid over."""

    rule: Rule
    kernel: str | None
    fallthrough: bool


class TableRow(NamedTuple):
    """One slot.

    key: runtime key or Undefined. rule, number: what decided. kernel: its dump text; None when missing.
    source: the key the kernel is registered at, an alias perhaps; None for ambiguous, fallback and missing slots.
    blockers: the keys whose kernels made the slot ambiguous, or took it away from the math kernel.
    core: the kernel is one of PyTorch's own backend fallbacks.
    live_kernel: what PyTorch's live table holds instead, where it is stale (an empty text when it holds nothing).
    before: what the slot held in the base, where the files have changed it.
    origin: through what the kernel came, beyond its place.
    """

    key: str
    rule: Rule
    number: int
    kernel: str | None
    fallthrough: bool
    source: str | None
    blockers: tuple[str, ...]
    core: bool
    span: Span | None
    live_kernel: str | None = None
    before: Before | None = None
    origin: Origin = OWN


class OperatorTable(NamedTuple):
    """One operator's rows, in table order, after the key filter.

    new: there is a base, and it does not have the operator. notes: what to say beyond the rows.
    origin: through what the schema came, beyond its place.
    """

    operator: str
    schema: str | None
    span: Span | None
    rows: tuple[TableRow, ...]
    new: bool = False
    notes: tuple[Note, ...] = ()
    origin: Origin = OWN


class OperatorSummary(NamedTuple):
    """How many slots of an operator each rule fills, how many are stale, and how many differ from the base."""

    operator: str
    span: Span | None
    counts: Mapping[Rule, int]
    stale: int
    changed: int


class TableReport(NamedTuple):
    """The tables asked for; `tables` and `summaries` compute as they are read, operator by operator."""

    universe: str
    names: tuple[OperatorName, ...]
    tables: Callable[[], Iterator[OperatorTable]]
    summaries: Callable[[], Iterator[OperatorSummary]]


def table_report(state: State, names: Iterable[OperatorName], keys: frozenset[str] | None) -> TableReport:
    """The tables of *names*, of *keys* only, where given."""
    dispatcher, chosen = state.dispatcher, tuple(names)
    return TableReport(
        universe=dispatcher.universe.name,
        names=chosen,
        tables=lambda: (_operator_table(state, name, keys) for name in chosen),
        summaries=lambda: (_summary(state, name) for name in chosen),
    )


def _operator_table(state: State, name: OperatorName, keys: frozenset[str] | None) -> OperatorTable:
    dispatcher = state.dispatcher
    header = dispatcher.header(name)
    stale = {entry.canonical.key: entry for entry in dispatcher.stale_entries(name)}
    before = changed_slots(state, name)
    table = dispatcher.table(name)
    shown = [key for key in table if keys is None or key in keys]
    rows = tuple(row_of(state, table[key], stale.get(key), before.get(key)) for key in shown)
    new = state.base is not None and name not in state.base
    notes = table_notes(dispatcher, table, header.schema, shown, stale)
    return OperatorTable(str(name), header.schema, header.span, rows, new, notes, state.operator_origin(name))


def row_of(state: State, entry: TableEntry, stale: StaleEntry | None = None, before: Before | None = None) -> TableRow:
    """An entry as a row, with through what its kernel came; the rest as in `table_row`."""
    row = table_row(state.dispatcher, entry, stale, before)
    origin = OWN if entry.registration is None else state.origin(entry.registration)
    return row if origin is OWN else row._replace(origin=origin)


def changed_slots(state: State, name: OperatorName) -> dict[str, Before]:
    """The slots in which an operator of the base differs from what it was there."""
    if state.base is None or name not in state.base or state.dispatcher.is_as_captured(name):
        return {}
    changes = {}
    for was, entry in engine.changed_slots(state.base.table(name), state.dispatcher.table(name)):
        kernel = was.kernel
        changes[entry.key] = Before(was.rule, kernel.debug if kernel else None, was.is_fallthrough)
    return changes


def table_row(
    dispatcher: Dispatcher, entry: TableEntry, stale: StaleEntry | None = None, before: Before | None = None
) -> TableRow:
    """An entry as a row. stale: where its live entry is another. before: where the base had another answer."""
    kernel, decision = entry.kernel, entry.decision
    live = None
    if stale is not None:
        live = stale.live.kernel.debug if stale.live.kernel else ""
    return TableRow(
        key=entry.key,
        rule=decision.rule,
        number=decision.number,
        kernel=kernel.debug if kernel else None,
        fallthrough=entry.is_fallthrough,
        source=decision.source,
        blockers=dispatcher.keys_in(decision.blockers),
        core=decision.rule is Rule.FALLBACK and kernel is not None and kernel.span is None,
        span=kernel.span if kernel else None,
        live_kernel=live,
        before=before,
    )


def _summary(state: State, name: OperatorName) -> OperatorSummary:
    dispatcher = state.dispatcher
    return OperatorSummary(
        operator=str(name),
        span=dispatcher.header(name).span,
        counts=dispatcher.table(name).plan.counts,
        stale=len(dispatcher.stale_entries(name)),
        changed=len(changed_slots(state, name)),
    )
