"""Differences from another version, or from the state that the files start from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

from textual.binding import Binding, BindingType

from dispatch_cli.answers.diff import document as diff_documents
from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.wording import outcome, sides_label
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.differences import (
    ComparedStates,
    Old,
    diff_answer,
    everything,
    old_of,
    olds,
)
from dispatch_cli.explore.background import Background, snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.explore.views.screens import Choose
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Run, TableBlock, Tone
from dispatch_cli.render.words import count_cell

COLUMNS: list[Column[ChangedRow]] = [
    Column("Operator", lambda row, _: Run(row.name, Tone.PLAIN if row.spot else Tone.HEAD)),
    Column("", lambda row, _: Run(row.what, Tone.ALIAS), optional=True),
    Column("Schema", lambda row, _: "changed" if row.schema else "", optional=True),
    Column("Registrations", lambda row, _: count_cell(row.registrations), right=True, short_header="Reg."),
    Column("Slots", lambda row, _: count_cell(row.slots), right=True),
]
_WAYS = "the list shows the differences of an operator whole."
_OLDS: list[Column[Old]] = [Column("State", lambda row, _: row.name)]


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


class DifferencesPane(ListPane):
    """The operators that are different, and how."""

    TITLE = "Changes"
    WORDS = "operator, what is different"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("b", "old", "Compare with", tooltip="Choose the state to compare with"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work = Background(self)
        self._chosen: Old | None = None
        self._compared_for: tuple[State, Old] | None = None
        self._states: ComparedStates | None = None
        self._whole: PaneAnswer | None = None
        self._shown: PaneAnswer | None = None

    def open(self, spot: Spot) -> None:
        """Show what is different, with the cursor at the operator; in another state, it is looked for in a thread."""
        moved = spot._replace(key=None) != self.spot._replace(key=None)
        self.spot = spot
        self._compare()
        if moved:
            self._point()

    def _point(self) -> None:
        """Put the cursor on the operator that the user is at, if it differs."""
        spots = [row.spot for row in self.list.rows]
        if (here := self.spot._replace(key=None)) in spots:
            self.list.move_to(spots.index(here))

    @property
    def old(self) -> Old | None:
        """State that this one is compared with."""
        return old_of(self.session, self._chosen)

    @property
    def waits_for(self) -> str:
        """Work that the command line waits for; empty if it has ended."""
        return f"Comparing with {self.old.name}…" if self._work.busy and self.old is not None else ""

    # everything

    def _compare(self) -> None:
        """Compare everything, in a thread."""
        old, state = self.old, self.session.state
        if old is None:
            self.say("There is nothing to compare with.")
        elif self._compared_for == (state, old):
            if self._whole is not None and not self._work.busy:
                self.refill(keep=True)
        else:
            self._compared_for, self._whole, self._states = (state, old), None, None
            self.refill()
            self.answered(None)
            self.say(f"Comparing with {old.name}…")
            new, original = snapshot(state), snapshot(self.session.original)
            self._work.start(
                lambda step: everything(self.session, old, original, new, step),
                lambda result: self._compared(*result),
                self._failed,
                lambda text: self.say(text),
            )

    def _compared(self, states: ComparedStates, answer: PaneAnswer | None) -> None:
        self._states, self._whole = states, answer
        if answer is None:
            self.say("`diff` has no arguments for this: it compares files and embedded states.")
        else:
            self.refill(keep=True)
            self._point()

    def _failed(self, error: Exception) -> None:
        self._compared_for = None
        self.say(("Comparing failed: ", "bold"), f"{type(error).__name__}: {str(error)[:500]}")
        self.answered(None)

    @property
    def remark(self) -> str:
        """The command of one operator has nothing of the others."""
        return super().remark if self._shown is self._whole else ""

    # the list

    def rows(self) -> Sequence[ChangedRow]:
        """A row for all, then one for each operator that differs."""
        return () if self._whole is None else difference_rows(self._whole.report)

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The operators that differ."""
        return TableBlock(COLUMNS, rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return str(row.words)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """States that are compared, and the outcome."""
        if self._whole is not None:
            report: DiffReport = self._whole.report
            yield (sides_label(report.old, report.new), "bold")
            yield f": {outcome(report)}"
            if shown != count:
                yield f"; {shown:,} of {count:,} rows"

    def show_details(self) -> None:
        """Show the differences in all, or in the operator under the cursor."""
        row = self.list.target
        self._shown = None
        states, old = self._states, self.old
        if row is not None and states is not None and old is not None:
            self._shown = self._whole if row.spot is None else diff_answer(self.session, old, row.spot, states)
            self.answered(self._shown)
        super().show_details()

    def details(self, row: Any) -> Iterable[Block]:  # noqa: ARG002
        """Blocks in the words of the command."""
        if self._shown is None:
            return ()
        assert self._states is not None, "they were compared"
        universes = (self._states.old.dispatcher.universe, self._states.new.dispatcher.universe)
        each = self._shown is not self._whole
        return diff_documents.document(self._shown.report, universes=universes, each=each, ways=_WAYS)

    def opens(self, item: Any) -> Any:
        """The operator, or the place, of a row of differences."""
        return None if self._shown is None else opened_by(item, self.session.state)

    def spot_at(self, row: Any) -> Spot | None:
        """The operator, if the state has it."""
        spot: Spot | None = row.spot
        there = spot is not None and (spot.operator is None or spot.operator in self.session.state.dispatcher)
        return spot if there else None

    # keys

    def action_old(self) -> None:
        """Choose what to compare with."""
        table = TableBlock(_OLDS, olds(self.session))
        self.app.push_screen(Choose("Compare with", table, self.old), self._take)

    def _take(self, old: Old | None) -> None:
        if old is not None:
            self._chosen = old
            self.open(self.spot)
