"""The findings of the state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.answers.explain.advice_document import fragment
from dispatch_cli.answers.findings import checks_document
from dispatch_cli.answers.findings.checks import checks_report
from dispatch_cli.answers.findings.document import KeyRun, document
from dispatch_cli.answers.findings.report import ReportedFinding
from dispatch_cli.answers.findings.summary_document import outcome
from dispatch_cli.answers.shared.selection import has_words
from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.checks.running.run import Progress
from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.findings import findings_search
from dispatch_cli.explore.background import Step
from dispatch_cli.explore.session import PaneAnswer, Spot
from dispatch_cli.explore.views.pane import Pane
from dispatch_cli.explore.views.screens import DocumentScreen
from dispatch_cli.model.changes.change import Edit
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.model.settings import Selector
from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind
from dispatch_cli.render.printed import safe


class FindingsPane(Pane):
    """Findings of the checks, worst first. The target of a part: findings with one sentence."""

    TITLE = "Findings"
    FILTER = "severity, check, operator, key, place"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "Slot", tooltip="Go to the slot of the finding, or its operator"),
        Binding("t", "this", "Operator", tooltip="Show only the findings of this operator, or all"),
        Binding("x", "fix", "Try fix", tooltip="Try the fix of the finding, where there is one"),
        Binding("d", "details", "Why", tooltip="Show what the check demands, and the fix"),
    ]
    _of_operator = False

    def open(self, spot: Spot) -> None:
        """Show the findings; those of one operator follow the spot."""
        moved = spot._replace(key=None) != self.spot._replace(key=None)
        super().open(spot)
        if moved and self._of_operator and not self.work.busy:
            self.show()
            self.answered(self.answer)

    def begin(self) -> None:
        check = findings_search(self.session)
        self.search(lambda step: check(_progress(step)), "Checking…")

    def document(self, answer: PaneAnswer) -> Iterable[Block]:
        if answer.report.findings:  # without any, it is all that the document says
            yield Paragraph(outcome(answer.report).text, kind=ParagraphKind.TITLE)
        if self.session.tried_file:
            yield Paragraph("Operators that changes on trial concern are checked with their overloads and other forms.")
        yield Gap()
        yield from document(replace(answer.report, findings=tuple(filter(self._is_chosen, answer.report.findings))))

    def _is_chosen(self, row: ReportedFinding) -> bool:
        finding = row.finding
        if self._of_operator and finding.operator != self._operator_name:
            return False
        severity, place = finding.severity.value, finding.span or ""
        return has_words(
            f"{severity} {finding.check} {finding.operator} {finding.key} {place} {finding.message}", self.words
        )

    @property
    def _operator_name(self) -> str:
        return str(self.spot.operator or f"{HIGHER_ORDER_NAMESPACE}::{self.spot.higher_order}")

    def chosen(self) -> Iterator[str]:
        if self._of_operator:
            yield f"of {self._operator_name}"
        yield from super().chosen()

    def opens(self, item: Any) -> Any:
        return item.findings if isinstance(item, KeyRun) else super().opens(item)

    def place_of(self, target: Any) -> Any:
        """The declaration to look at first."""
        return target[0].span if self._is_finding(target) else target

    def go_to(self, target: Any) -> None:
        """Go to the slot of a finding, else its operator, else to the documentation of its check."""
        spot = spot_of(self.session.state, target[0]) if self._is_finding(target) else target
        if spot is None:
            self.action_details()
        else:
            super().go_to(spot)

    def _is_finding(self, target: Any) -> bool:
        return isinstance(target, tuple) and isinstance(target[0], Finding)

    # keys

    def action_this(self) -> None:
        """Show only those of the operator under the cursor of the list of operators, or all."""
        self._of_operator = not self._of_operator
        self.show()
        self.answered(self.answer)

    def action_fix(self) -> None:
        """Try the fix of the finding under the cursor."""
        if edits := self._edits():
            self.try_advice(edits)
        else:
            self.notify("There is no fix here that can be tried.")

    def action_details(self) -> None:
        """Show the documentation of the finding's check, and the fix."""
        target = self.view.target
        if self._is_finding(target):
            self.app.push_screen(DocumentScreen("esc closes", finding_details(target[0], self._edits())))

    def _edits(self) -> tuple[Edit, ...]:
        target = self.view.target
        findings = target if self._is_finding(target) else ()
        return tuple(dict.fromkeys(edit for finding in findings for edit in finding.fix))


def finding_details(finding: Finding, edits: tuple[Edit, ...]) -> Iterator[Block]:
    """The fix of a finding, and why it is one."""
    if (text := fragment(edits)) is not None:
        yield Paragraph("A fix, as declarations: x tries it", kind=ParagraphKind.SECTION)
        yield checks_document.code_block(text.rstrip())
        yield Gap()
    (check,) = checks_report((Selector(finding.check),)).checks
    yield from checks_document.of_finding(check, finding.severity)


def spot_of(state: State, finding: Finding) -> Spot | None:
    """The slot of a finding, else its operator; None where the state has neither."""
    if finding.operator is None:
        return None
    name, key = OperatorName.parse(finding.operator), finding.key
    if name in state.dispatcher:
        return Spot(name, key if key in state.dispatcher.universe.slot else None)
    operator = state.higher_order_operator(finding.operator.removeprefix(f"{HIGHER_ORDER_NAMESPACE}::"))
    return None if operator is None else Spot(None, key, operator.name)


def _progress(step: Step) -> Progress:
    """Progress of the checks, in words."""

    def progress(check: Check, before: int, count: int) -> None:
        step(f"Checking {before + 1} of {count}: {safe(check.id)}")

    return progress
