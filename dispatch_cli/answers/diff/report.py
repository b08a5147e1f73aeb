"""Two states held against each other, as a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from dispatch_cli.answers.diff import parts as rows
from dispatch_cli.answers.diff.cells.changed import DiffCell, changed_cells
from dispatch_cli.answers.diff.parts import CELLS, EVERYTHING, DiffChoice
from dispatch_cli.answers.diff.rows import (
    DiffCounts,
    DiffFallback,
    DiffHigherOrder,
    DiffKey,
    DiffMove,
    DiffOperator,
    DiffPythonKernel,
    DiffRefused,
    DiffRegistration,
    DiffRename,
    DiffSchema,
    DiffSide,
    DiffSlots,
)
from dispatch_cli.answers.diff.slots import slot_groups
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.engine.comparison.states import compare_states
from dispatch_cli.engine.history.state import State


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Differences of *new* from *old*.

    counts: of what the report has. operators_added, operators_removed: without those that were renamed.
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
    operators_renamed: tuple[DiffRename, ...]
    schemas: tuple[DiffSchema, ...]
    registrations: tuple[DiffRegistration, ...]
    moved: tuple[DiffMove, ...]
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
    rename = rows.renamed(change) if defined else ()
    report = DiffReport(
        old=rows.side(change.old, named[0]),
        new=rows.side(change.new, named[1]),
        equal=True,
        counts=DiffCounts(),
        operators_added=tuple(rows.alone(change, ChangeKind.ADDED, rename)) if defined else (),
        operators_removed=tuple(rows.alone(change, ChangeKind.REMOVED, rename)) if defined else (),
        operators_renamed=rename,
        schemas=tuple(rows.schemas(change)) if defined else (),
        registrations=tuple(rows.registrations(change, chosen)) if registered else (),
        moved=tuple(rows.moved(change, chosen)) if registered else (),
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
        operators_renamed=len(report.operators_renamed),
        schemas=sum(schema.old_schema != schema.new_schema for schema in report.schemas),
        tags=sum(bool(schema.tags_added or schema.tags_removed) for schema in report.schemas),
        alias_analysis=sum(schema.new_alias_analysis is not None for schema in report.schemas),
        registrations_added=kinds.count(ChangeKind.ADDED),
        registrations_removed=kinds.count(ChangeKind.REMOVED),
        registrations_replaced=kinds.count(ChangeKind.REPLACED) + kinds.count(ChangeKind.BENEATH),
        registrations_moved=len(report.moved),
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
