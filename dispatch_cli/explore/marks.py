"""Marks in the list of operators: for effects of a change on trial, and for the number of findings."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from dispatch_cli.explore.session import Session
from dispatch_cli.model.severity import Severity

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.checks.check import Finding
    from dispatch_cli.explore.background import Step
    from dispatch_cli.whatif.findings import FindingsEffect

Found = Mapping[str, Mapping[Severity, int]]
"""The findings of each operator, counted by severity."""
_PAUSE = 0.002
"""Seconds for which the checks let the screen go on, between two steps."""


def tried_operators(session: Session) -> frozenset[str]:
    """The operators that a change on trial is about; a backend fallback is about none of its own."""
    touched = session.whatif.touched if session.has_tried else ()
    return frozenset(str(name) for change in touched for name in change.operators)


def original_findings(session: Session) -> Callable[[Step], Found]:
    """A function that gives the findings of the state without changes, and may run in a thread."""
    from dispatch_cli.explore.answers.findings import original_search

    search = original_search(session)

    def find(step: Step) -> Found:
        def progress(*_: object) -> None:
            step("")
            time.sleep(_PAUSE)

        report: FindingsReport = search(progress).report
        return report.affected

    return find


def with_changes(findings: Found, effect: FindingsEffect) -> Found:
    """The findings with the changes on trial. effect: those that come and go by them."""
    counts, new, gone = dict(findings), counted(effect.new), counted(effect.gone)
    for operator in new.keys() | gone.keys():
        # without those that are gone; none is counted less than not at all
        left = Counter(findings.get(operator, {})) + Counter(new.get(operator, {})) - Counter(gone.get(operator, {}))
        if left:
            counts[operator] = left
        else:
            counts.pop(operator, None)
    return counts


def counted(findings: Iterable[Finding]) -> Found:
    """Number of findings of each severity for every operator."""
    counts: dict[str, Counter[Severity]] = {}
    for finding in findings:
        if finding.operator is not None:
            counts.setdefault(finding.operator, Counter())[finding.severity] += 1
    return counts
