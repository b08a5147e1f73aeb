"""The support matrix, and below it the facts of the call under the cursor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from dispatch_cli.answers.support.document import MARKS, call_blocks, matrix, outcome
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, support_report
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.explore.answers.call import Draft
from dispatch_cli.explore.answers.table import operator_glob
from dispatch_cli.explore.background import Step, snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.blocks import open_cell
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.model.calls.options import NO_OPTIONS
from dispatch_cli.model.names import OperatorName
from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind


class SupportPane(Pane):
    """The matrix of the operators of the files; where there are none, that of the operator under the cursor."""

    TITLE = "Support"
    BELOW = True
    MARKS = tuple((mark.text, f"of a call: {mark.meaning}") for mark in MARKS.values())
    DEFAULT_CSS = "SupportPane > .below { height: 35%; max-height: 9; }"

    def depends(self) -> tuple[Any, ...]:
        return (matrix_operators(self.session.state, self.spot),)

    def begin(self) -> None:
        self.search(support_search(self.session, matrix_operators(self.session.state, self.spot)), "Judging calls…")

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        """The verdict and the matrix."""
        report = answer.report
        title = Paragraph(outcome(report), kind=ParagraphKind.TITLE)
        return title, Gap(), matrix(report, full=True)

    def shows(self, spot: Spot) -> bool:
        return spot.operator in matrix_operators(self.session.state, spot)

    def opens(self, item: Any) -> Any:
        return open_cell(item)

    def is_here(self, target: Any) -> bool:
        """The cursor follows the operator."""
        return bool(target.target[0] == self.spot.operator)

    def place_of(self, target: Any) -> Any:
        """The registration of the cell."""
        return None if target is None else target.target[2].span

    def described(self, target: Any) -> Iterable[Block]:
        """The call of the cell."""
        return () if target is None or self.answer is None else call_blocks(self.answer.report, *target.target)

    def moved(self, target: Any) -> None:
        """The list follows the cursor."""
        operator = target.target[0]
        if operator != self.spot.operator:
            self.spot = Spot(operator)
            self.went(self.spot)

    def go_to(self, target: Any) -> None:
        """Go to the call under the cursor; where no single call shows it, to the table."""
        operator, _, cell = target.target
        spot = Spot(operator)
        if cell.call is None:
            super().go_to(spot)
            return
        options = NO_OPTIONS._replace(**dict(argument.split("=", 1) for argument in cell.call.arguments))
        self.session.asked[spot] = Draft(cell.call.tensors, cell.call.contexts, options)
        self.went(spot, "call")


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
