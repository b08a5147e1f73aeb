"""What the checks found, as a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class FindingsReport:
    """findings: by place, then operator and key. checks: every check that ran, found something or not."""

    universe: str
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]
    operators: int


def findings_report(state: State, names: Iterable[OperatorName]) -> FindingsReport:
    """Run every check over *names*."""
    chosen = tuple(names)
    findings = [finding for check in CHECKS if check.of_records for finding in check.find(state, chosen)]
    broken = {finding.operator for finding in findings}
    sound = tuple(name for name in chosen if str(name) not in broken) if broken else chosen
    findings += [finding for check in CHECKS if not check.of_records for finding in check.find(state, sound)]
    order = state.dispatcher.universe.slot
    findings.sort(key=lambda finding: _place(finding, order.get(finding.key or "", -1)))
    return FindingsReport(state.dispatcher.universe.name, tuple(findings), CHECKS, len(chosen))


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that belong together, in the order of their first."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        key = finding if finding.group is None else (finding.check, finding.group, finding.span)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def _place(finding: Finding, slot: int) -> tuple[str, int, int, str, int, str]:
    span = finding.span
    where = (span.file, span.line, span.column) if span is not None else ("", 0, 0)
    return (*where, finding.operator or "", slot, finding.message)
