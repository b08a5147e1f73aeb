"""Run the chosen checks over a view: stage by stage, suppressed findings apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.checks.check import Check, CheckStage, Finding, Need
from dispatch_cli.checks.suppressions import Suppressions
from dispatch_cli.checks.view import View
from dispatch_cli.model.settings import Severity, Suppression

Progress = Callable[[Check, int, int], None]
"""Told of each check before it runs: the check, how many ran before it, and how many there are."""


class Suppressed(NamedTuple):
    """A suppressed finding."""

    finding: Finding
    by: Suppression


class CheckRun(NamedTuple):
    """What a run of the checks led to, in no order.

    idle: checks that stayed silent because something they need is not there, and the first such thing.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[tuple[Check, Need], ...]


def run_checks(
    view: View,
    checks: Sequence[Check],
    known: Sequence[Check],
    severities: Mapping[str, Severity] | None = None,
    progress: Progress | None = None,
) -> CheckRun:
    """Run *checks*, those about records first.

    known: every check there is, for the names in suppressions. severities: of checks whose own is overruled.
    Errors: UnknownCheck for a suppression that names a check that is none.
    """
    suppressions = Suppressions(view, known, frozenset(check.id for check in checks))
    findings: list[Finding] = []
    suppressed: list[Suppressed] = []
    idle: list[tuple[Check, Need]] = []
    stage = CheckStage.RECORDS
    for position, check in enumerate(sorted(checks, key=lambda check: check.stage.value)):
        if progress is not None:
            progress(check, position, len(checks))
        if check.stage is not stage:
            if stage is CheckStage.RECORDS:
                broken = [finding.operator for finding in findings]
                view = view.without(frozenset(name for name in broken if name is not None))
            if check.stage is CheckStage.RUN:
                view.unused = suppressions.unused()
            stage = check.stage
        missing = next((need for need in check.needs if not _has(view, need)), None)
        if missing is not None:
            idle.append((check, missing))
            continue
        severity = (severities or {}).get(check.id)
        for finding in dict.fromkeys(check.find(view)):
            by = suppressions.of(finding)
            one = finding if severity is None else finding._replace(severity=severity)
            if by is None:
                findings.append(one)
            else:
                suppressed.append(Suppressed(one, by))
    return CheckRun(tuple(findings), tuple(suppressed), tuple(idle))


def _has(view: View, need: Need) -> bool:
    match need:
        case Need.PYTORCH:
            return view.has_pytorch
        case Need.FILES:
            return view.has_files
        case _:
            return view.built is not None
