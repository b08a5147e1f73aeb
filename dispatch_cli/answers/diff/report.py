"""Two states held against each other, as a report, with the slots and the support cells that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

from dispatch_cli import bases
from dispatch_cli.answers.diff import rows
from dispatch_cli.answers.diff.rows import (
    CELLS,
    EVERYTHING,
    DiffChoice,
    DiffCounts,
    DiffFallback,
    DiffHigherOrder,
    DiffKernel,
    DiffKey,
    DiffOperator,
    DiffPythonKernel,
    DiffRefused,
    DiffRegistration,
    DiffSchema,
    DiffSide,
    DiffSlotOperator,
    DiffSlots,
    kernel_of,
)
from dispatch_cli.engine.comparison.operators import OperatorChange
from dispatch_cli.engine.comparison.sides import ChangeKind, OperatorView, Side
from dispatch_cli.engine.comparison.slots import Answer, CauseKind, SlotCause, SlotChange
from dispatch_cli.engine.comparison.states import StatesChange, compare_states
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Reason, Verdict
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

_OLD = frozenset((CauseKind.REMOVED, CauseKind.FALLBACK_REMOVED, CauseKind.WAS_STALE))
"""The causes that the old state has."""
_ORDERS = frozenset((CauseKind.LEFT_STALE, CauseKind.WAS_STALE))
_FALLBACKS = frozenset((CauseKind.FALLBACK_ADDED, CauseKind.FALLBACK_REMOVED, CauseKind.FALLBACK_REPLACED))


class DiffCell(NamedTuple):
    """A cell that is another one. old_declared_at, new_declared_at: what serves the call, or fails it."""

    operator: str
    backend: str
    context: SupportContext
    before: Verdict
    after: Verdict
    old_reason: Reason | None
    new_reason: Reason | None
    old_declared_at: Span | None
    new_declared_at: Span | None


def changed_cells(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffCell]:
    """The cells of the operators that both sides have, and that differ or whose surroundings do.

    Of the operators of files; of states without files, of those that are chosen, or where nothing else is asked for.
    """
    sides = change.old, change.new
    operators = _candidates(change, chosen)
    there = sides if operators else ()
    columns = [
        column
        for column in dict.fromkeys(column for side in there for column in support_columns(side.state, operators))
        if chosen.has_key(column.backend) and all(column.backend in side.universe.slot for side in sides)
    ]
    before, after = (support_rows(side.state, operators, columns) for side in sides)
    for old, new in zip(before, after, strict=True):
        for column, was, now in zip(columns, old.cells, new.cells, strict=True):
            if (was.verdict, was.reason) != (now.verdict, now.reason):
                answers = was.verdict, now.verdict, was.reason, now.reason
                yield DiffCell(str(new.operator), column.backend, column.context, *answers, was.span, now.span)


def _candidates(change: StatesChange, chosen: DiffChoice) -> list[OperatorName]:
    sides = change.old, change.new
    changed = {operator.name for operator in change.operators}
    own = {str(name) for side in sides for name in side.state.own_operators()}
    names = own if chosen.operators is None else own.intersection(chosen.operators)
    if not own:
        names = changed if chosen.operators is not None or tuple(chosen.parts) == (CELLS,) else set()
    parsed = {name: OperatorName.parse(name) for name in sorted(names)}
    both = {name: operator for name, operator in parsed.items() if all(operator in side.dispatcher for side in sides)}
    if change.fallbacks or change.only_old or change.only_new or change.old.universe is not change.new.universe:
        return [*both.values()]
    old, new = sides
    return [
        operator for name, operator in both.items() if name in changed or _facts(old, operator) != _facts(new, operator)
    ]


def _facts(side: Side, operator: OperatorName) -> object:
    """Facts beside registrations that decide cells: about fake tensors, and about what kernels do."""
    kernels = {key: registration.kernel for key, registration in side.dispatcher.active(operator).items()}
    known = {key: (kernel.redispatches, kernel.body, kernel.setup_body) for key, kernel in kernels.items()}
    return side.state.fake_rules(operator), known


def slot_groups(change: StatesChange, chosen: DiffChoice) -> tuple[DiffSlots, ...]:
    """The groups, those with the most slots first."""
    groups: dict[SlotChange, list[DiffSlotOperator]] = {}
    for operator in change.operators:
        for slots in operator.slots:
            shown = slots
            if chosen.keys is not None:
                shown = slots._replace(keys=tuple(key for key in slots.keys if key in chosen.keys))
            if shown.keys:
                groups.setdefault(shown, []).append(_slot_row(change, operator, shown))
    slot_rows = [DiffSlots(*slots, tuple(operators)) for slots, operators in groups.items()]
    return tuple(sorted(slot_rows, key=lambda row: -len(row.keys) * len(row.operators)))


def _slot_row(change: StatesChange, operator: OperatorChange, slots: SlotChange) -> DiffSlotOperator:
    """An operator of a group, with the kernels of its answers and causes."""
    before, after = operator.before, operator.after
    assert before is not None, "slots are compared of operators that both sides have"
    assert after is not None, "slots are compared of operators that both sides have"
    key = slots.keys[0]
    views = (change.old, before), (change.new, after)
    return DiffSlotOperator(
        operator.name,
        _answered(*views[0], slots.before, key),
        _answered(*views[1], slots.after, key),
        tuple(_caused(cause, key, *views[cause.kind not in _OLD]) for cause in slots.causes),
    )


def _caused(cause: SlotCause, key: str, side: Side, view: OperatorView) -> DiffKernel | None:
    if cause.kind in _FALLBACKS:
        return kernel_of(side, side.fallbacks[key])
    if cause.kind in _ORDERS:
        return kernel_of(side, view.stale[key].cause)
    return None if cause.kind is CauseKind.UNIVERSE else kernel_of(side, view.kernels[cause.key][0])


def _answered(side: Side, view: OperatorView, answer: Answer, key: str) -> DiffKernel | None:
    if answer.source is None:
        return None
    stale = view.stale.get(key)
    kernel = view.kernels[answer.source][0] if stale is None else stale.kernel
    return None if kernel is None else kernel_of(side, kernel)


class DiffArguments(NamedTuple):
    """The files or states that each side consists of, and the other arguments."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of ``diff``."""
        further = [("--old", file) for file in self.old[1:]] + [("--new", file) for file in self.new[1:]]
        return (self.old[0], self.new[0], *(text for pair in further for text in pair), *self.options)


def as_side(named: tuple[str, ...]) -> tuple[str, ...]:
    """Embedded states as one side: an overlay stands for itself over its state."""
    overlays = tuple(name for name in named if name in bases.overlay_names())
    return overlays or named


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Differences of *new* from *old*.

    counts: of what the report has.
    registrations, slots: of the operators that both sides have, at the keys that both universes have. keys: those that
    one universe has alone. refused: the registrations that PyTorch refuses, and that one side has alone.
    """

    REPORT: ClassVar[str] = "diff"

    old: DiffSide
    new: DiffSide
    equal: bool
    counts: DiffCounts
    operators_added: tuple[DiffOperator, ...]
    operators_removed: tuple[DiffOperator, ...]
    schemas: tuple[DiffSchema, ...]
    registrations: tuple[DiffRegistration, ...]
    fallbacks: tuple[DiffFallback, ...]
    python_kernels: tuple[DiffPythonKernel, ...]
    higher_order_operators: tuple[DiffHigherOrder, ...]
    keys: tuple[DiffKey, ...]
    slots: tuple[DiffSlots, ...]
    refused: tuple[DiffRefused, ...]
    cells: tuple[DiffCell, ...]


def diff_report(
    old: State, new: State, named: tuple[Sequence[str], Sequence[str]], chosen: DiffChoice = EVERYTHING
) -> DiffReport:
    """Report on the differences of *new* from *old*. named: the names of the two on the command line."""
    change = compare_states(old, new, chosen.operators)
    defined = "schemas" in chosen.parts and chosen.keys is None
    registered = "registrations" in chosen.parts
    report = DiffReport(
        old=rows.side(change.old, named[0]),
        new=rows.side(change.new, named[1]),
        equal=True,
        counts=DiffCounts(),
        operators_added=tuple(rows.alone(change, ChangeKind.ADDED)) if defined else (),
        operators_removed=tuple(rows.alone(change, ChangeKind.REMOVED)) if defined else (),
        schemas=tuple(rows.schemas(change)) if defined else (),
        registrations=tuple(rows.registrations(change, chosen)) if registered else (),
        fallbacks=tuple(rows.fallbacks(change, chosen)) if registered else (),
        python_kernels=tuple(rows.python_kernels(change, chosen)) if registered else (),
        higher_order_operators=tuple(rows.higher_order(change, chosen)) if registered else (),
        keys=tuple(rows.keys_alone(change, chosen)) if registered else (),
        slots=slot_groups(change, chosen) if "slots" in chosen.parts else (),
        refused=tuple(rows.refused(change, chosen)) if registered else (),
        cells=tuple(changed_cells(change, chosen)) if CELLS in chosen.parts else (),
    )
    counts = _counts(report)
    return replace(report, counts=counts, equal=not any(counts))


def _counts(report: DiffReport) -> DiffCounts:
    kinds = [registration.change for registration in report.registrations]
    return DiffCounts(
        operators_added=len(report.operators_added),
        operators_removed=len(report.operators_removed),
        schemas=sum(schema.old_schema != schema.new_schema for schema in report.schemas),
        tags=sum(bool(schema.tags_added or schema.tags_removed) for schema in report.schemas),
        alias_analysis=sum(schema.new_alias_analysis is not None for schema in report.schemas),
        registrations_added=kinds.count(ChangeKind.ADDED),
        registrations_removed=kinds.count(ChangeKind.REMOVED),
        registrations_replaced=kinds.count(ChangeKind.REPLACED) + kinds.count(ChangeKind.BENEATH),
        slots=sum(len(slot.keys) * len(slot.operators) for slot in report.slots),
        slot_operators=len({each.operator for slot in report.slots for each in slot.operators}),
        python_kernels=len(report.python_kernels),
        higher_order_operators=len(report.higher_order_operators),
        fallbacks=len(report.fallbacks),
        keys=len(report.keys),
        refused_added=sum(refusal.change is ChangeKind.ADDED for refusal in report.refused),
        refused_removed=sum(refusal.change is ChangeKind.REMOVED for refusal in report.refused),
        cells=len(report.cells),
    )
