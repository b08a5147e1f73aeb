"""The findings of the state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.findings.report import FindingsReport
from dispatch_cli.answers.findings.summary_document import document as summary_document
from dispatch_cli.answers.findings.summary_document import not_checked_sentences, outcome
from dispatch_cli.checks.check import Check
from dispatch_cli.checks.run import Progress
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.findings import (
    COLUMNS,
    FindingFix,
    FindingRow,
    finding_detail,
    finding_rows,
    findings_search,
    opened_by,
    spot_of,
)
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Paragraph, TableBlock
from dispatch_cli.render.printed import safe


class FindingsPane(ListPane):
    """Findings of the checks, worst first."""

    TITLE = "Findings"
    WORDS = "severity, check, operator, key, place"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "this", "Operator", tooltip="List only the findings of this operator, or all"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work = Background(self)
        self._state: State | None = None
        self._rows: list[FindingRow] = []
        self._this = False

    def open(self, spot: Spot) -> None:
        """Show the findings; where the state is another one, they are looked for in a thread."""
        moved = spot.operator != self.spot.operator or spot.higher_order != self.spot.higher_order
        self.spot = spot
        state = self.session.state
        if state is not self._state:
            self._state = state
            check = findings_search(self.session)
            self.say("Checking…")
            self._work.start(lambda step: check(_progress(step)), self._take, self._failed, self.say)
        elif moved and self._this:
            self.refill(keep=True)

    def _take(self, answer: PaneAnswer) -> None:
        self.answer, self._rows = answer, finding_rows(answer.report)
        self.refill(keep=True)
        self.answered(answer)

    def _failed(self, error: Exception) -> None:
        self.answer, self._rows = None, []
        self.refill()
        self.say(("The checks could not run: ", "bold"), f"{type(error).__name__}: {str(error)[:500]}")
        self.answered(None)

    @property
    def _report(self) -> FindingsReport | None:
        return None if self.answer is None else self.answer.report

    # the list

    def rows(self) -> Sequence[FindingRow]:
        """Rows that the keys choose."""
        return [row for row in self._rows if not self._this or row.operator == self._operator_name]

    @property
    def _operator_name(self) -> str | None:
        return self.spot.higher_order if self.spot.operator is None else str(self.spot.operator)

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The findings."""
        return TableBlock(COLUMNS, rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return str(row.words)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:  # noqa: ARG002
        """Outcome of the run, and the choice of its findings."""
        if self._report is None:
            return
        report = self._report
        if report.operators or report.summary:
            yield (outcome(report).text, "bold")
        else:
            yield ("No operator was checked", "bold")
            yield "".join(f"; {sentence}" for sentence in not_checked_sentences(report.not_checked))
        if shown != len(self._rows):
            yield "\n"
            yield f"{shown:,} of {len(self._rows):,} rows are listed"

    def chosen_rows(self) -> Iterable[str]:
        """Choice of the operator."""
        return (f"of {self._operator_name}",) if self._this else ()

    def details(self, row: Any) -> Iterable[Block]:
        """A finding; without one, how the run ended."""
        if row is not None:
            return finding_detail(row)
        if self._report is None:
            return ()
        return (Paragraph("No finding is like that."),) if self._rows else summary_document(self._report)

    def opens(self, item: Any) -> Any:
        """Target of a part of a finding."""
        row = self.list.target
        return None if row is None else opened_by(item, self.session.state, row)

    def go_to(self, target: Any) -> None:
        """Go to a target as elsewhere; of a fix, try it."""
        if isinstance(target, FindingFix):
            self.try_advice(target.edits)
        else:
            super().go_to(target)

    def spot_at(self, row: Any) -> Spot | None:
        """The slot of a finding, else its operator."""
        return spot_of(self.session.state, row, next(iter(row.keys), None))

    def place_of(self, row: Any) -> Span | None:
        """The declaration to look at first."""
        return row.span if isinstance(row, FindingRow) else None

    # keys

    def action_this(self) -> None:
        """Show only those of the operator under the cursor of the list of operators, or all."""
        self._this = not self._this
        self.refill()


def _progress(step: Step) -> Progress:
    """Progress of the checks, in words."""

    def progress(check: Check, before: int, count: int) -> None:
        step(f"Checking {before + 1} of {count}: {safe(check.id)}")

    return progress
