"""What the list of operators marks: what a change on trial changed, and how many findings there are."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from dispatch_cli.explore.session import Session
from dispatch_cli.model.settings import Severity

if TYPE_CHECKING:
    from dispatch_cli.checks.check import Finding
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.explore.background import Step
    from dispatch_cli.report.findings import FindingsReport
    from dispatch_cli.whatif.findings import FindingsEffect

Found = Mapping[str, Mapping[Severity, int]]
"""The findings of each operator, counted by severity."""
_PAUSE = 0.002
"""Seconds for which the checks let the screen go on, between two steps."""


def tried_operators(session: Session) -> frozenset[str]:
    """The operators of which a change on trial changes a slot."""
    if not session.has_tried:
        return frozenset()
    tried = session.whatif
    slots = {slot.operator for slot in tried.slots} | {slot.operator for slot in tried.python_slots}
    return frozenset(map(str, slots))


def original_findings(session: Session, copy: State, step: Step) -> Found:
    """The findings of the state without changes. copy: a snapshot of it. In a thread."""
    from dispatch_cli.explore.answers.findings import findings_answer

    def progress(*_: object) -> None:
        step("")
        time.sleep(_PAUSE)

    report: FindingsReport = findings_answer(session, copy, progress).report
    return counted(one.finding for one in report.findings)


def with_changes(found: Found, effect: FindingsEffect) -> Found:
    """The findings with the changes on trial. effect: those that come and go by them."""
    counts = {operator: Counter(by_severity) for operator, by_severity in found.items()}
    for sign, findings in ((1, effect.new), (-1, effect.gone)):
        for operator, by_severity in counted(findings).items():
            of_operator = counts.setdefault(operator, Counter())
            for severity, count in by_severity.items():
                of_operator[severity] = max(0, of_operator[severity] + sign * count)
    return {operator: by_severity for operator, by_severity in counts.items() if any(by_severity.values())}


def counted(findings: Iterable[Finding]) -> Found:
    """How many there are of each severity for every operator."""
    counts: dict[str, Counter[Severity]] = {}
    for one in findings:
        if one.operator is not None:
            counts.setdefault(one.operator, Counter())[one.severity] += 1
    return counts
