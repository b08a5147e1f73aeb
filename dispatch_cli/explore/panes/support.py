"""The support matrix, and below it the facts of the call under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from dispatch_cli.answers.support.document import MARKS, call_blocks, counts, matrix, verdict_sentence
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReport, support_report
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.explore.answers.call import Draft
from dispatch_cli.explore.answers.table import operator_glob
from dispatch_cli.explore.background import Background, Step, snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.blocks import Blocks, open_cell
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.calls.options import NO_OPTIONS
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind


class SupportPane(Pane):
    """The matrix of the operators of the files; where there are none, that of the operator under the cursor."""

    TITLE = "Support"
    MARKS = tuple((mark.text, f"of a call: {mark.meaning}") for mark in MARKS.values())
    DEFAULT_CSS = """
    SupportPane > #support-call { height: 35%; max-height: 9; border-top: solid $panel; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "call", "Call", tooltip="Show the call under the cursor, step by step"),
        Binding("e", "edit", "Edit", tooltip="Open the place of the registration in the editor"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work = Background(self)
        self._judged: tuple[State, list[OperatorName]] | None = None
        self._spot = Spot()
        self.view, self.details = Blocks(id="support-cells"), Blocks(id="support-call")

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.details

    def open(self, spot: Spot) -> None:
        """Show the matrix; the cursor follows the operator. Other operators, and other states, are judged anew."""
        self._spot = spot
        judged = self.session.state, matrix_operators(self.session.state, spot)
        if judged == self._judged:
            self._point()
            return
        self._judged = judged
        self.answered(None)
        self._say("Judging calls…")
        self._work.start(support_search(self.session, judged[1]), self._take, self._failed, self._say)

    @property
    def waits_for(self) -> str:
        """The work in progress, before there is a command line."""
        return "Judging calls…" if self._work.busy else ""

    def _take(self, answer: PaneAnswer) -> None:
        self.view.show(_blocks(answer.report), open_cell)
        self.answered(answer)
        self._point()

    def _point(self) -> None:
        """Put the cursor into the row of the operator, if it is not there."""
        operator = self._spot.operator
        self.view.point(lambda cell: bool(cell.target[0] == operator))
        self._show_call()

    def _say(self, text: str) -> None:
        self.view.show([Paragraph(text)])
        self.details.show(())

    def _failed(self, error: Exception) -> None:
        self._say(f"The calls could not be judged: {type(error).__name__}: {str(error)[:500]}")

    def _show_call(self) -> None:
        cell = self._cell
        if cell is not None and self.answer is not None:
            self.details.show(tuple(call_blocks(self.answer.report, *cell)))

    @property
    def _cell(self) -> tuple[OperatorName, int, Cell] | None:
        """The cell under the cursor: its operator, and the number of its column."""
        return None if self.view.target is None else self.view.target.target

    def on_blocks_laid_out(self, event: Blocks.LaidOut) -> None:
        """A matrix that was not on the screen is laid out when it is there."""
        event.stop()
        if event.view is self.view:
            self._show_call()

    def on_lines_view_moved(self, event: Blocks.Moved) -> None:
        """The call and the list follow the cursor."""
        event.stop()
        self._show_call()
        if event.view is self.view and self._cell is not None and self._cell[0] != self._spot.operator:
            self._spot = Spot(self._cell[0])
            self.post_message(self.Went(self._spot))

    def on_lines_view_opened(self, event: Blocks.Opened) -> None:
        """Deeper: the call."""
        event.stop()
        self.action_call()

    def action_call(self) -> None:
        """Go to the call under the cursor; where no single call shows it, to the slot."""
        if self._cell is None:
            return
        operator, _, cell = self._cell
        spot = Spot(operator)
        if cell.call is None:
            self.post_message(self.Went(spot, "table"))
            return
        options = NO_OPTIONS._replace(**dict(argument.split("=", 1) for argument in cell.call.arguments))
        self.session.asked[spot] = Draft(cell.call.tensors, cell.call.contexts, options)
        self.post_message(self.Went(spot, "call"))

    def action_edit(self) -> None:
        """See the place of the registration under the cursor in the editor."""
        span = None if self._cell is None else self._cell[2].span
        if span is None:
            self.say_no_place()
        else:
            self.post_message(self.OpenPlace(span))


def _blocks(report: SupportReport) -> list[Block]:
    """The verdict, the matrix, and how many operators work in each context."""
    title = Paragraph(verdict_sentence(report), kind=ParagraphKind.TITLE)
    return [title, Gap(), matrix(report, full=True), Gap(), *(Paragraph(text, hang=4) for text in counts(report))]


def matrix_operators(state: State, spot: Spot) -> list[OperatorName]:
    """The operators that a matrix is of: those of the files; where there are none, that of the place."""
    names = state.own_operators()
    if 0 < len(names) <= MOST_OF_A_LIBRARY:
        return names
    return [] if spot.operator is None or spot.operator not in state.dispatcher else [spot.operator]


def support_search(session: Session, names: Sequence[OperatorName]) -> Callable[[Step], PaneAnswer]:
    """A function that judges the operators, and may run in a thread."""
    state, arguments = snapshot(session.state), session.command("")[1:]
    is_all = [*names] == state.own_operators()
    ops = [] if is_all else [part for name in names for part in ("--op", operator_glob(session, Spot(name)))]

    def search(step: Step) -> PaneAnswer:
        columns = support_columns(state, names)
        rows = []
        for row in support_rows(state, names, columns):
            rows.append(row)
            step(f"Judging calls: {len(rows):,} of {len(names):,} operators…")
        return PaneAnswer(support_report(state, columns, rows, arguments), session.command("support", *ops))

    return search
