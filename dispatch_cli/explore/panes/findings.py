"""The findings of the state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.findings.report import FindingsReport, summary_of
from dispatch_cli.answers.findings.summary_document import document as summary_document
from dispatch_cli.answers.findings.summary_document import not_checked_sentences, outcome
from dispatch_cli.checks.check import Check
from dispatch_cli.checks.run import Progress
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.findings import (
    COLUMNS,
    GONE,
    NEW,
    FindingFix,
    FindingRow,
    finding_detail,
    finding_rows,
    findings_search,
    new_findings,
    opened_by,
    operator_search,
    spot_of,
)
from dispatch_cli.explore.background import Background, Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.explore.views.list_pane import ListPane
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Paragraph, TableBlock
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.words import plural
from dispatch_cli.whatif.findings import FindingsEffect


class FindingsPane(ListPane):
    """Findings of the checks, worst first; with changes on trial, those made and ended by them before all others."""

    TITLE = "Findings"
    MARKS = (
        (NEW, "the changes on trial make the finding"),
        (GONE, "the changes on trial end the finding"),
    )
    WORDS = "severity, check, operator, key, place"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "this", "Operator", tooltip="List only the findings of this operator, or all"),
    ]

    def __init__(self, session: Session, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(session, id=id)
        self._work, self._closer_work = Background(self), Background(self)
        self._state: State | None = None
        self._whole: PaneAnswer | None = None
        self._closer: dict[str, PaneAnswer] = {}
        """Answers of the command on an operator."""
        self._rows: list[FindingRow] = []
        self._count = 0
        self._effect = FindingsEffect()
        self._this = False

    def open(self, spot: Spot) -> None:
        """Show the findings; where the state is another one, they are looked for in a thread."""
        moved = spot.operator != self.spot.operator or spot.higher_order != self.spot.higher_order
        self.spot = spot
        state = self.session.state
        if state is not self._state:
            self._state = state
            check, tried = findings_search(self.session), self.session.whatif
            changes, known = tried.changes, tried.findings
            search = tried.search() if known is None else lambda: known
            self.say("Checking…")

            def work(step: Step) -> tuple[PaneAnswer, FindingsEffect]:
                return check(_progress(step)), search()

            def done(result: tuple[PaneAnswer, FindingsEffect]) -> None:
                tried.take(changes, result[1])
                self._take(*result)

            self._work.start(work, done, self._failed, self.say)
        elif moved and self._this:
            self._look_closer()

    def _take(self, answer: PaneAnswer, effect: FindingsEffect) -> None:
        self._effect, self._whole, self._closer = effect, answer, {}
        self._count = len(self._rows_of(answer.report))
        self._look_closer()

    def _rows_of(self, report: FindingsReport) -> list[FindingRow]:
        asked = {check.id for check in report.checks}
        gone = [finding for finding in self._effect.gone if finding.check in asked]
        return finding_rows(report, new_findings(report, self._effect.new), gone)

    @property
    def _current(self) -> PaneAnswer | None:
        """Listed answer: that on the wanted operator, or that on all as long as it is looked for."""
        return self._closer.get(self._operator_name or "", self._whole) if self._this else self._whole

    @property
    def _report(self) -> FindingsReport | None:
        """The report of what is listed."""
        return None if self._current is None else self._current.report

    def _look_closer(self, keep: bool = True) -> None:
        """List what is wanted, as the command gives it: what is known of it at once, and all of it from a thread."""
        self._closer_work.stop()
        self._list(keep)
        name = self._operator_name
        if self._whole is None or self._work.busy or not self._this or name is None or name in self._closer:
            return

        def done(answer: PaneAnswer) -> None:
            self._closer[name] = answer
            self._list()

        search = operator_search(self.session, self.spot)
        self._closer_work.start(lambda step: search(_progress(step)), done, self._failed)

    def _list(self, keep: bool = True) -> None:
        report = self._report
        self._rows = [] if report is None else self._rows_of(report)
        self.refill(keep)
        self.answered(self._current)

    def _failed(self, error: Exception) -> None:
        self._whole, self._rows, self._closer = None, [], {}
        self.refill()
        self.say(("The checks could not run: ", "bold"), f"{type(error).__name__}: {str(error)[:500]}")
        self.answered(None)

    # the list

    def rows(self) -> Sequence[FindingRow]:
        """Rows that the keys choose."""
        name = self._operator_name
        return [row for row in self._rows if not self._this or row.operator == name or row.unlisted]

    @property
    def _operator_name(self) -> str | None:
        return self.spot.higher_order if self.spot.operator is None else str(self.spot.operator)

    def table(self, rows: Sequence[Any]) -> TableBlock[Any]:
        """The findings."""
        return TableBlock(COLUMNS, rows)

    def words_of(self, row: Any) -> str:
        """Text that the filter searches."""
        return str(row.words)

    def title(self, shown: int, count: int) -> Iterable[str | tuple[str, str]]:
        """Outcome of the run, and the choice of its findings."""
        if self._report is None:
            return
        summary = summary_of(self._report)
        if summary.operators or summary.summary:
            yield (outcome(summary).text, "bold")
        else:
            yield ("No operator was checked", "bold")
            yield "".join(f"; {sentence}" for sentence in not_checked_sentences(summary.not_checked))
        gone = sum(row.mark == GONE for row in self._rows)
        if gone:
            yield "\n"
            yield f"{plural(gone, 'row')} marked {GONE}: no longer found with the changes on trial"
        if self._this or shown != count:
            yield "\n"
            yield f"{shown:,} of {self._count:,} rows: {f'of {self._operator_name}' if self._this else 'by the filter'}"

    def chosen_rows(self) -> Iterable[str]:
        """Choice of the operator, as long as the command for it is not known."""
        return (f"of {self._operator_name}",) if self._this and self._operator_name not in self._closer else ()

    def details(self, row: Any, width: int) -> Iterable[Block]:  # noqa: ARG002
        """A finding; without one, how the run ended."""
        if row is None:
            if self._report is None:
                return ()
            if self._rows:
                return (Paragraph(self._none()),)
            return summary_document(summary_of(self._report))
        return finding_detail(self.session.state, row)

    def _none(self) -> str:
        unlisted = 0 if self._report is None else sum(row.findings for row in self._report.unlisted)
        if not unlisted:
            return "No finding is like that."
        return f"No listed finding is like that. {unlisted:,} more are not listed: t lists those of an operator."

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
        self._look_closer(keep=False)


def _progress(step: Step) -> Progress:
    """Progress of the checks, in words."""

    def progress(check: Check, before: int, count: int) -> None:
        step(f"Checking {before + 1} of {count}: {safe(check.id)}")

    return progress
