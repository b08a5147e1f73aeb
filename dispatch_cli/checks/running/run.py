"""Run of the chosen checks over a view, those about the run last; each finding is counted as it is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.checks.catalogue import unused_suppression
from dispatch_cli.checks.check import Check, Finding, Need
from dispatch_cli.checks.running.brought_about import Finder
from dispatch_cli.checks.running.listing import Limits, Listing
from dispatch_cli.checks.running.selection import Suppressions
from dispatch_cli.checks.view import View
from dispatch_cli.engine.table.registration import Refusal
from dispatch_cli.model.declarations import RegisteringFunction
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.settings import Suppression
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.checks.running.conditions import Conditions

Progress = Callable[[Check, int, int], None]
"""Told of each check before it runs: the check, how many ran before it, and how many there are."""
IsNew = Callable[[str, str | None, str | None, str], bool]
"""Says of a finding, by check, operator, key and subject, whether it counts; asked once of each."""


class FunctionIndex:
    """Functions by the places of what they register."""

    def __init__(self, functions: Iterable[RegisteringFunction]) -> None:
        self._by_place: dict[Span, RegisteringFunction] = {}
        for function in functions:
            for place in function.places:
                self._by_place.setdefault(place, function)

    def of_call(self, finding: Finding) -> Finding:
        """The finding; where a function registers what it is about, it names the function.

        Nothing here calls that function. A registration for an operator that is not there is a warning: the library
        that defines it may be loaded before something does.
        """
        function = None if finding.span is None else self._by_place.get(finding.span)
        if function is None:
            return finding
        note = Related(f"registered in {function.name}(), when that is called", function.at)
        finding = finding._replace(related=(*finding.related, note))
        is_open = finding.severity is Severity.ERROR and finding.subject == Refusal.UNKNOWN_OPERATOR.value
        return finding._replace(severity=Severity.WARNING) if is_open else finding


class Suppressed(NamedTuple):
    """A suppressed finding."""

    finding: Finding
    by: Suppression


class CheckRun(NamedTuple):
    """Result of a run of the checks, in no order.

    findings, suppressed: those that are listed. totals: of each check that found something, how many there are.
    suppressed_totals: the same of what is suppressed.
    idle: checks that stayed silent because something they need is not there, and the first such thing.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Suppressed, ...]
    idle: tuple[tuple[Check, Need], ...]
    totals: tuple[Listing, ...]
    suppressed_totals: tuple[Listing, ...]


def run_checks(
    view: View,
    checks: Sequence[Check],
    known: Sequence[Check],
    severities: Mapping[str, Severity] | None = None,
    progress: Progress | None = None,
    *,
    limits: Limits | None = None,
    is_new: IsNew | None = None,
    conditions: Conditions | None = None,
) -> CheckRun:
    """Run *checks*, those about the run itself last.

    known: every check there is, for the names in suppressions. severities: of checks whose own is overruled.
    limits: how many findings are listed; None for all. is_new: says of each finding whether it counts; a baseline
    knows others. conditions: of registrations, with further variants of the view.
    Errors: UnknownCheck for a suppression that names a check that is none.
    """
    # a library's drift is not looked for without one, and its suppressions may be of use
    runs = (check.id for check in checks if Need.BUILT not in check.needs or view.built is not None)
    suppressions = Suppressions(view, known, frozenset(runs))
    functions = FunctionIndex(view.state.declarations.functions)
    finder = Finder(view)
    totals: list[Listing] = []
    suppressed_totals: list[Listing] = []
    suppressed: list[Suppressed] = []
    idle: list[tuple[Check, Need]] = []
    for position, check in enumerate(sorted(checks, key=_is_about_the_run)):
        if progress is not None:
            progress(check, position, len(checks))
        unmet = check.unmet(view)
        if unmet is not None:
            idle.append((check, unmet))
            continue
        severity = (severities or {}).get(check.id)
        listing, hidden = Listing(check.id, limits), Listing(check.id, limits)
        results = _unused(view, suppressions) if _is_about_the_run(check) else _made(check, finder, conditions)
        for item in _each_once(results):
            finding = functions.of_call(check.hedged(view, item))
            if finding.span is None and finding.operator is not None:
                finding = finding._replace(span=view.own_places.get(finding.operator))
            finding = finding if severity is None else finding._replace(severity=severity)
            by = suppressions.of(finding)
            if by is not None:
                if hidden.add(finding):
                    suppressed.append(Suppressed(finding, by))
            elif is_new is None or is_new(finding.check, finding.operator, finding.key, finding.subject):
                listing.add(finding)
        totals.append(listing)
        suppressed_totals.append(hidden)
    return CheckRun(
        tuple(finding for listing in totals for finding in listing.listed),
        tuple(suppressed),
        tuple(idle),
        tuple(listing for listing in totals if listing.counts),
        tuple(listing for listing in suppressed_totals if listing.counts),
    )


def _is_about_the_run(check: Check) -> bool:
    return check is unused_suppression.CHECK


def _unused(view: View, suppressions: Suppressions) -> Iterator[Finding]:
    """Findings about the suppressions that suppressed nothing, known when all other checks have run."""
    return map(unused_suppression.finding_of, suppressions.unused() if view.is_whole else ())


def _made(check: Check, finder: Finder, conditions: Conditions | None) -> Iterator[Finding]:
    """Findings of a check about the state, in all variants."""
    if conditions is None:
        return finder.find(check)
    return conditions.find(check, finder, lambda other: check.unmet(other) is None)


def _each_once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings without repetitions."""
    seen: set[int] = set()
    for finding in findings:
        same = hash(finding)
        if same not in seen:
            seen.add(same)
            yield finding
