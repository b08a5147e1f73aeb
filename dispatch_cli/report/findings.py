"""What the checks found, as a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Check, Finding, Need
from dispatch_cli.checks.run import Progress, Suppressed, run_checks
from dispatch_cli.checks.selection import chosen, severities
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.settings import CheckSettings, Severity
from dispatch_cli.report.baseline import BaselineUse, Entry, apply

SCHEMA_VERSION = 2
FAIL_ON = Severity.WARNING
"""The mildest severity that makes a run fail, when nobody says otherwise."""


class NotChecked(NamedTuple):
    """How many operators were left out, as not the user's own, or checked without knowing whose they are.

    pytorch: those that only PyTorch registered something for. extended: those of files that the user's extend.
    unknown: those of a capture that does not say who registered them; they were checked as PyTorch's are.
    """

    pytorch: int = 0
    extended: int = 0
    unknown: int = 0


NOTHING = NotChecked()


@dataclass(frozen=True, slots=True)
class FindingsReport:
    """What a run of the checks found.

    findings: by place, then check, operator and key. checks: those that ran, found something or not, and those of them
    that are idle for lack of what they need. known: every check there is.
    suppressed: what the declarations say is meant to be so. baseline: what a baseline did, where there is one.
    operators: how many were looked at, with those of guards that found something.
    fail_on: the mildest severity that makes the run fail. not_checked: what was not looked at as the user's own.
    """

    universe: str
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...]
    operators: int
    known: tuple[Check, ...] = CHECKS
    suppressed: tuple[Suppressed, ...] = ()
    idle: tuple[tuple[Check, Need], ...] = ()
    fail_on: Severity = FAIL_ON
    baseline: BaselineUse | None = None
    not_checked: NotChecked = NOTHING

    @property
    def failing(self) -> bool:
        """Whether a finding is bad enough to fail the run."""
        return any(self.fails(finding) for finding in self.findings)

    def fails(self, finding: Finding) -> bool:
        """Whether one finding is bad enough to fail the run."""
        return finding.severity.rank <= self.fail_on.rank


def findings_report(
    state: State,
    names: Iterable[OperatorName],
    guarded: frozenset[OperatorName] | None = None,
    settings: Sequence[CheckSettings] = (),
    baseline: Mapping[Entry, int] | None = None,
    progress: Progress | None = None,
) -> FindingsReport:
    """Run the checks over *names*.

    guarded: the operators that guards may report on; None for all. settings: what the project and the command line say,
    the weakest first; what the declarations say comes before. baseline: the findings that are known.
    Errors: UnknownCheck for a name of a check that is none.
    """
    places = (*state.declarations.settings, *settings)
    checks = chosen(CHECKS, places)
    chosen_names = tuple(names)
    view = View(state, chosen_names, guarded)
    outcome = run_checks(view, checks, CHECKS, severities(CHECKS, places), progress)
    order = _Order(state)
    findings, use = tuple(_with_origin(state, one) for one in sorted(outcome.findings, key=order.place)), None
    # guards speak of operators beyond those that were chosen
    named = {one.operator for one in (*findings, *(one.finding for one in outcome.suppressed))} - {None}
    if baseline is not None:
        ran = frozenset(check.id for check in checks) - {check.id for check, _ in outcome.idle}
        about = None if guarded is None else frozenset(map(str, chosen_names))

        def judged(entry: Entry) -> bool:
            return entry.check in ran and (about is None or entry.operator in about)

        findings, use = apply(findings, baseline, judged)
    return FindingsReport(
        universe=state.dispatcher.universe.name,
        findings=findings,
        checks=checks,
        operators=len(named.union(map(str, chosen_names))),
        suppressed=tuple(sorted(outcome.suppressed, key=lambda one: order.place(one.finding))),
        idle=outcome.idle,
        fail_on=next((place.fail_on for place in reversed(places) if place.fail_on is not None), FAIL_ON),
        baseline=use,
        not_checked=_not_checked(view, chosen_names if guarded is not None else None),
    )


def _not_checked(view: View, asked: tuple[OperatorName, ...] | None) -> NotChecked:
    """asked: the operators that the user chose; None for all."""
    if not view.has_files:
        return NotChecked()
    dispatcher = view.dispatcher
    # the names of a base are texts, and thousands
    own = frozenset(map(str, view.own))
    names = frozenset(dispatcher.names() if asked is None else map(str, asked))
    unknown = names & frozenset(map(str, view.unknown))
    others = names - own - unknown
    pytorchs = others & view.pytorch_operators
    return NotChecked(len(pytorchs), len(others) - len(pytorchs), len(unknown))


def _with_origin(state: State, finding: Finding) -> Finding:
    """A finding in a file that the user did not name says through what the file came."""
    told = {one.span for one in finding.related}
    through = state.origin_of(finding.span).through[::-1]
    words = ("the file is extended here", *("and that file here" for _ in through[1:]))
    related = tuple(Related(word, span) for word, span in zip(words, through, strict=False) if span not in told)
    return finding._replace(related=(*finding.related, *related)) if related else finding


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that belong together, in the order of their first."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        key = finding if finding.group is None else (finding.check, finding.group, finding.span)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


class _Order:
    """The order of a report: by place, those without one first; then by check, operator, key, and text."""

    def __init__(self, state: State) -> None:
        self._slot = state.dispatcher.universe.slot
        self._check = {check.id: position for position, check in enumerate(CHECKS)}

    def place(self, finding: Finding) -> tuple[str, int, int, int, str, int, str, str]:
        span = finding.span
        where = (span.file, span.line, span.column) if span is not None else ("", 0, 0)
        slot = self._slot.get(finding.key or "", -1)
        what = (self._check[finding.check], finding.operator or "", slot, finding.message, finding.subject)
        return (*where, *what)
