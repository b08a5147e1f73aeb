"""The operators that differ between two states, as rows of a list."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.session import Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Column, Run, Tone
from dispatch_cli.render.words import count_cell


class ChangedRow(NamedTuple):
    """An operator that differs; the first row is for everything, and has no spot.

    what: a word for an operator that one side has alone. The others are counts.
    """

    spot: Spot | None
    what: str
    schema: bool
    registrations: int
    slots: int

    @property
    def name(self) -> str:
        """Name as a person writes it."""
        if self.spot is None:
            return "everything"
        return str(self.spot.operator) if self.spot.operator is not None else f"higher_order::{self.spot.higher_order}"

    @property
    def words(self) -> str:
        """Text that a filter searches."""
        parts = [self.name, self.what]
        parts += ["schema"] if self.schema else []
        parts += ["registrations"] if self.registrations else []
        parts += ["slots"] if self.slots else []
        return " ".join(parts)


COLUMNS: list[Column[ChangedRow]] = [
    Column("Operator", lambda row, _: Run(row.name, Tone.PLAIN if row.spot else Tone.HEAD)),
    Column("", lambda row, _: Run(row.what, Tone.ALIAS), optional=True),
    Column("Schema", lambda row, _: "changed" if row.schema else "", optional=True),
    Column("Registrations", lambda row, _: count_cell(row.registrations), right=True, short_header="Reg."),
    Column("Slots", lambda row, _: count_cell(row.slots), right=True),
]


def difference_rows(report: DiffReport) -> list[ChangedRow]:
    """A row for everything, then the operators that differ, by name; higher-order ones behind."""
    slots, registrations = Counter[str](), Counter[str]()
    for group in report.slots:
        for each in group.operators:
            slots[each.operator] += len(group.keys)
    registrations.update(registration.operator for registration in report.registrations)
    registrations.update(registration.operator for registration in report.moved)
    registrations.update(kernel.operator for kernel in report.python_kernels)
    schemas = {schema.operator for schema in report.schemas}
    what = {change.operator: ChangeKind.ADDED.value for change in report.operators_added}
    what |= {change.operator: ChangeKind.REMOVED.value for change in report.operators_removed}
    what |= {renaming.new: f"was {renaming.old}" for renaming in report.operators_renamed}
    refused = {refusal.operator for refusal in report.refused if refusal.operator is not None}
    cells = {cell.operator for cell in report.cells}
    names = sorted({*slots, *registrations, *schemas, *what, *refused, *cells})
    rows = [
        ChangedRow(
            Spot(OperatorName.parse(name)), what.get(name, ""), name in schemas, registrations[name], slots[name]
        )
        for name in names
    ]
    others = [
        ChangedRow(Spot(higher_order=operator.name), operator.change.value, False, len(operator.impls), 0)
        for operator in report.higher_order_operators
    ]
    counts = report.counts
    total = counts.registrations_added + counts.registrations_removed + counts.registrations_replaced
    everything = ChangedRow(None, "", False, total + counts.registrations_moved + counts.python_kernels, counts.slots)
    return [everything, *rows, *others]


def opened_by(item: Any, state: State) -> Span | Spot | None:
    """Target of a row of a comparison: its place, else its operator or slot, if the state has it."""
    for field in ("span", "new_declared_at"):
        if isinstance(place := getattr(item, field, None), Span):
            return place
    name, key = getattr(item, "operator", None), getattr(item, "key", None)
    if isinstance(name, str) and OperatorName.parse(name) in state.dispatcher:
        return Spot(OperatorName.parse(name), key if key in state.dispatcher.universe.slot else None)
    return None
