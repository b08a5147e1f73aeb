"""The computed dispatch table as a report: one row per slot, with the rule and the declaration behind it."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dispatch_cli.answers.shared.notes import Note, table_notes
from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.answers.shared.slot_row import Before, Folded, Folding, Otherwise, TableRow, answer_of, fold
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table import table as engine
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.table import Table, TableEntry
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import OWN, Origin, Span

if TYPE_CHECKING:
    from dispatch_cli.answers.table.higher_order_report import HigherOrderSlots, HigherOrderSummary


class OperatorTable(NamedTuple):
    """One operator's rows, in table order, after the key filter.

    new: there is a base, and it does not have the operator. notes: what to say beyond the rows.
    origin: through what the schema came, beyond its place.
    """

    operator: str
    schema: str | None
    span: Span | None
    entries: tuple[TableRow, ...]
    new: bool = False
    notes: tuple[Note, ...] = ()
    origin: Origin = OWN


# Nobody compares or prints these reports: `eq` and `repr` would only cost time while this is imported.
@dataclass(frozen=True, eq=False, slots=True, repr=False)
class TableReport(StartsFrom):
    """The tables asked for, computed as they are read, operator by operator."""

    REPORT: ClassVar[str] = "table"

    higher_order_operators: tuple[HigherOrderSlots, ...]
    operators: Iterator[OperatorTable]


class OperatorSummary(NamedTuple):
    """Number of slots of an operator that each rule fills, that are stale, and that differ from the base."""

    operator: str
    span: Span | None
    slots: Mapping[Rule, int]
    stale: int
    changed: int


# Nobody compares or prints these reports: `eq` and `repr` would only cost time while this is imported.
@dataclass(frozen=True, eq=False, slots=True, repr=False)
class TableSummaryReport(StartsFrom):
    """A summary of each table asked for, computed as they are read."""

    REPORT: ClassVar[str] = "table-summary"

    higher_order_operators: tuple[HigherOrderSummary, ...]
    operators: Iterator[OperatorSummary]


_GENERATED = re.compile(
    r"registered at (?:\S*/)?(Register\w+?|VariableType|TraceType|ADInplaceOrViewType)(?:_\d+)?\.cpp:\d+(?= \[|$)"
)
"""Places in what torchgen writes: the file says what it is, the number of the file and the line say nothing."""


class Aside(Enum):
    """Kind of a slot that is not worth a row when a table is folded."""

    CORE_FALLBACK = "core-fallback"
    CORE_FALLTHROUGH = "core-fallthrough"
    MISSING = "missing"


class NotKnown(NamedTuple):
    """Kind of slots that are not known: their content without kernels that are not known. Also an `Aside`."""

    rule: Rule
    source: str | None


def table_report(
    state: State,
    names: Collection[OperatorName],
    keys: frozenset[str] | None = None,
    higher_order: tuple[HigherOrderSlots, ...] = (),
) -> TableReport:
    """The tables of *names*, of *keys* only, where given."""
    operators = (_operator_table(state, name, keys) for name in names)
    return TableReport(*starts_from(state, names), higher_order, operators)


def summary_report(
    state: State, names: Collection[OperatorName], higher_order: tuple[HigherOrderSummary, ...] = ()
) -> TableSummaryReport:
    """A summary of the table of each of *names*."""
    operators = (_summary(state, name) for name in names)
    return TableSummaryReport(*starts_from(state, names), higher_order, operators)


def _operator_table(state: State, name: OperatorName, keys: frozenset[str] | None) -> OperatorTable:
    dispatcher = state.dispatcher
    header = dispatcher.header(name)
    stale = dispatcher.stale_slots(name)
    before = changed_slots(state, name)
    table = dispatcher.table(name)
    shown = [key for key in table if keys is None or key in keys]
    rows = tuple(_rows(state, table, shown, stale, before))
    new = state.base is not None and name not in state.base
    notes = table_notes(dispatcher, table, header.schema, shown, stale)
    return OperatorTable(str(name), header.schema, header.span, rows, new, notes, state.operator_origin(name))


def _rows(
    state: State, table: Table, keys: Iterable[str], stale: Mapping[str, StaleEntry], before: Mapping[str, Before]
) -> Iterator[TableRow]:
    """A row for each slot. Slots that one decision fills differ in the key alone, unless they are stale or changed."""
    decisions, slot = table.plan.decisions, state.dispatcher.universe.slot
    known: dict[int, TableRow] = {}
    for key in keys:
        decision = decisions[slot[key]]
        if key in stale or key in before or decision.rule in (Rule.FALLBACK, Rule.NOT_KNOWN):
            yield row_of(state, table[key], stale.get(key), before.get(key))
            continue
        same = known.get(id(decision))
        if same is None:
            same = known[id(decision)] = row_of(state, table[key])
            yield same
        else:
            yield TableRow(key, *same[1:])


def fold_table(rows: Sequence[TableRow], autograd_keys: Container[str]) -> Folding[TableRow]:
    """Fold a table.

    autograd_keys: at these a core fallback is an answer worth a row (no derivative), as it is wherever a registered
    kernel took the slot away from the math kernel.
    """

    def aside(row: TableRow) -> Aside | NotKnown | None:
        if row.stale or row.before is not None:
            return None
        if row.otherwise is not None:
            return NotKnown(row.otherwise.rule, row.otherwise.source)
        if row.blockers:
            return None
        if row.rule is Rule.MISSING:
            return Aside.MISSING
        if row.core_fallback and row.fallthrough:
            return Aside.CORE_FALLTHROUGH
        return Aside.CORE_FALLBACK if row.core_fallback and row.key not in autograd_keys else None

    unknown = {NotKnown(row.otherwise.rule, row.otherwise.source) for row in rows if row.otherwise is not None}
    return fold(rows, answer_of, aside, {Aside.MISSING, *unknown})


def fold_kinds(rows: Sequence[TableRow], autograd_keys: Container[str]) -> Folding[TableRow]:
    """Fold a table further: slots with the same kind of kernel together, wherever they are."""
    folding = fold_table(rows, autograd_keys)
    groups: dict[Hashable, list[Folded[TableRow]]] = {}
    for run in folding.rows:
        groups.setdefault(_kind(run.answer), []).append(run)
    kinds = (Folded(tuple(key for run in group for key in run.keys), group[0].answer) for group in groups.values())
    return Folding(tuple(kinds), folding.aside)


def _kind(row: TableRow) -> Hashable:
    """Properties shared by the slots of one kind. PyTorch's own fallbacks differ in their place alone."""
    live = (row.stale, row.live_kernel if row.stale else None)
    state = (row.rule, row.fallthrough, row.blockers, row.when, row.before, row.otherwise, live)
    if row.core_fallback or (not row.stale and is_of_its_key(row)):
        return state
    return (*state, row.source if row.rule is not Rule.KERNEL else None, row.kernel, row.span)


def generated_file(kernel: str | None) -> str | None:
    """The file of torchgen that registers a kernel, such as ``RegisterCPU``; None for any other kernel."""
    match = None if kernel is None else _GENERATED.match(kernel)
    return None if match is None else match[1]


def is_of_its_key(row: TableRow) -> bool:
    """True if the kernel is the one that torchgen registers for the key of the slot."""
    return row.rule is Rule.KERNEL and generated_file(row.kernel) == f"Register{row.key}"


def row_of(state: State, entry: TableEntry, stale: StaleEntry | None = None, before: Before | None = None) -> TableRow:
    """An entry as a row. stale: where its live entry is another. before: where the base had another answer."""
    kernel, decision = entry.kernel, entry.decision
    live = kernel if stale is None else stale.live.kernel
    return TableRow(
        key=entry.key,
        rule=decision.rule,
        rule_number=decision.number,
        kernel=kernel.label if kernel else None,
        fallthrough=entry.is_fallthrough,
        source=decision.source,
        blockers=state.dispatcher.keys_in(decision.blockers),
        core_fallback=_is_core_fallback(state, entry),
        span=kernel.span if kernel else None,
        stale=stale is not None,
        live_kernel=live.label if live else None,
        before=before,
        origin=OWN if entry.registration is None else state.origin(entry.registration),
        when=kernel.when if kernel else None,
        otherwise=None if entry.otherwise is None else _otherwise(entry.otherwise),
    )


def _is_core_fallback(state: State, entry: TableEntry) -> bool:
    """True if it is a backend fallback of PyTorch itself, which no file declares."""
    kernel, registration = entry.kernel, entry.registration
    if entry.decision.rule is not Rule.FALLBACK or kernel is None or registration is None or kernel.span is not None:
        return False
    return state.dispatcher.universe.own_fallbacks.get(registration.key) == kernel.debug


def _otherwise(entry: TableEntry) -> Otherwise:
    kernel, decision = entry.kernel, entry.decision
    return Otherwise(
        rule=decision.rule,
        rule_number=decision.number,
        kernel=kernel.label if kernel else None,
        fallthrough=entry.is_fallthrough,
        source=decision.source,
        span=kernel.span if kernel else None,
    )


def changed_slots(state: State, name: OperatorName) -> dict[str, Before]:
    """The slots in which an operator of the base differs from what it was there."""
    if state.base is None or name not in state.base or state.is_as_before(name):
        return {}
    changes = {}
    for was, entry in engine.changed_slots(state.base.table(name), state.dispatcher.table(name)):
        kernel = was.kernel
        changes[entry.key] = Before(was.rule, kernel.label if kernel else None, was.is_fallthrough)
    return changes


def _summary(state: State, name: OperatorName) -> OperatorSummary:
    dispatcher = state.dispatcher
    counts = dispatcher.table(name).plan.counts
    return OperatorSummary(
        operator=str(name),
        span=dispatcher.header(name).span,
        slots={rule: counts.get(rule, 0) for rule in Rule},
        stale=len(dispatcher.stale_entries(name)),
        changed=len(changed_slots(state, name)),
    )
