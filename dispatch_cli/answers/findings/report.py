"""Report on the findings of the checks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from dispatch_cli.answers.findings.baseline import BaselineFilter, BaselineUse, fingerprints
from dispatch_cli.answers.findings.checked import NotChecked, operators_checked
from dispatch_cli.answers.shared.source_lines import at_word
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.catalogue.broken_promise import CHECK as PROMISES
from dispatch_cli.checks.check import Check, Finding, Need
from dispatch_cli.checks.running.listing import Limits, Listing
from dispatch_cli.checks.running.run import Progress, Suppressed, run_checks
from dispatch_cli.checks.running.selection import UnknownCheck, chosen, severities, unknown
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.built import BuiltLibrary
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.settings import CheckSettings, Selector
from dispatch_cli.model.span import Span

if TYPE_CHECKING:
    from dispatch_cli.checks.running.conditions import Conditions

FurtherState = tuple[State, Mapping[str, int]]
"""A state that conditional registrations can lead to, and the cases of the operators to look at in it."""
CODES = {check.id: check.code for check in CHECKS}
"""Check → its code."""
FAIL_ON = Severity.WARNING
"""The mildest severity that makes a run fail, where nothing else is asked for."""


class BuiltSource(NamedTuple):
    """The built library that declarations were compared with: what was asked, and the name of its universe."""

    source: str
    universe: str


class CheckedConditions(NamedTuple):
    """Combinations of conditions that were looked at.

    atoms: what the conditions consist of. chosen: what the user chose, as ``NAME=VALUE``. operators: how many have
    registrations with conditions. states: how many states were computed, which have every combination of every
    operator, but for the operators in *capped*, which have too many.
    """

    atoms: tuple[str, ...]
    chosen: tuple[str, ...]
    operators: int
    states: int
    capped: tuple[str, ...]


class ChosenCheck(NamedTuple):
    """A check that was asked for. lacks: what it needs and is not there, where it did not run for that reason."""

    id: str
    code: str
    title: str
    severity: Severity
    ran: bool
    lacks: Need | None


class ReportedFinding(NamedTuple):
    """A finding with the code of its check, and a fingerprint that stays the same when lines move."""

    code: str
    finding: Finding
    fingerprint: str


class SuppressedFinding(NamedTuple):
    """A finding that the declarations say is meant to be so. reason, by: why, and where they say it."""

    reason: str
    by: Span
    code: str
    finding: Finding


class UnlistedFindings(NamedTuple):
    """Findings of a check that are counted and not listed, of which there are too many.

    findings: how many. severity: the worst of them. span, reason: what they have in common; None for those of all other
    places and reasons. listed: how many of the same place and reason are listed.
    """

    code: str
    check: str
    severity: Severity
    span: Span | None
    reason: str | None
    listed: int
    findings: int


class CheckSummary(NamedTuple):
    """A check that found something: the worst severity of its findings, their number, and that of their operators."""

    code: str
    check: str
    severity: Severity
    findings: int
    operators: int
    title: str


@dataclass(frozen=True, slots=True)
class FindingsReport:
    """Scope and result of a run of the checks; the findings by place, then check, operator and key.

    over_assumed: as in `StartsFrom`. operators: how many were looked at: the user's own, those
    that the changes of files concern, and those of guards that found something.
    fail_on: the mildest severity that makes the run fail. failed: whether a finding is as bad. counts: of findings,
    listed or not.
    checks: those that were asked for. baseline: what a baseline did, where there is one.
    not_checked: what was not looked at. built: the library that declarations were compared with.
    conditions: what was looked at where registrations have conditions. unknown_schemas: the operators of which what
    depends on the schema was not checked. open_promises: how many promises could not be checked, by operator and
    reason. undecided: registrations in sources of which something is not known.
    not_understood: statements in sources that may register something. unread_files: those of them that stand for a file
    of which nothing could be read.
    suppressed_count: how many findings the declarations say are meant to be so. suppressed: those that are listed.
    summary: the checks that found something, with the numbers of all findings.
    affected: how many findings each operator has of each severity, listed or not.
    unlisted: what is not in *findings*, where there is very much.
    """

    REPORT: ClassVar[str] = "findings"

    universe: str
    over_assumed: bool
    operators: int
    fail_on: Severity
    failed: bool
    counts: Mapping[Severity, int]
    checks: tuple[ChosenCheck, ...]
    baseline: BaselineUse | None
    not_checked: NotChecked
    built: BuiltSource | None
    conditions: CheckedConditions | None
    unknown_schemas: tuple[str, ...]
    open_promises: int
    undecided: int
    not_understood: int
    unread_files: int
    suppressed_count: int
    suppressed: tuple[SuppressedFinding, ...]
    summary: tuple[CheckSummary, ...]
    affected: Mapping[str, Mapping[Severity, int]]
    unlisted: tuple[UnlistedFindings, ...]
    findings: tuple[ReportedFinding, ...]

    @property
    def is_nothing_checked(self) -> bool:
        """True if there was no operator to look at, although the sources may register some."""
        return not self.operators and bool(self.undecided or self.not_understood)

    def fails(self, finding: Finding) -> bool:
        """True if one finding is bad enough to fail the run."""
        return finding.severity.rank <= self.fail_on.rank

    def down_to(self, lowest: Severity) -> FindingsReport:
        """The same report with the findings that are at least as severe as *lowest*."""
        return replace(
            self,
            findings=tuple(entry for entry in self.findings if entry.finding.severity.rank <= lowest.rank),
            unlisted=tuple(rest for rest in self.unlisted if rest.severity.rank <= lowest.rank),
        )


def findings_report(
    state: State,
    names: Iterable[OperatorName],
    guarded: frozenset[OperatorName] | None = None,
    settings: Sequence[CheckSettings] = (),
    baseline: BaselineFilter | None = None,
    progress: Progress | None = None,
    higher_order: Sequence[HigherOrderOperator] = (),
    built: BuiltLibrary | None = None,
    limits: Limits | None = None,
    further: Iterable[FurtherState] = (),
) -> FindingsReport:
    """Run the checks over *names* and the higher-order operators given.

    guarded: the operators that guards may report on; None for all. settings: what the project and the command line say,
    the weakest first. baseline: takes away the findings that are known.
    built: the library that the declarations are held against. limits: how many findings are listed; None for all.
    further: other states that the registrations can lead to, where they have conditions.
    Errors: UnknownCheck for a name of a check that is none.
    """
    checks = chosen(CHECKS, settings)
    chosen_names = tuple(names)
    view = View(state, chosen_names, guarded, higher_order=higher_order, built=built)
    conditions = _conditions(state, view, further, guarded)
    is_new = None if baseline is None else baseline.is_new
    changed = severities(CHECKS, settings)
    outcome = run_checks(view, checks, CHECKS, changed, progress, limits=limits, is_new=is_new, conditions=conditions)
    place = partial(_place, slots=state.dispatcher.universe.slot)
    there = [placed(state, finding) for finding in outcome.findings]
    places = {(finding.check, finding.span): shown.span for finding, shown in zip(outcome.findings, there, strict=True)}
    findings = tuple(sorted(there, key=place))
    suppressed = sorted((_suppressed(state, entry) for entry in outcome.suppressed), key=lambda row: place(row.finding))
    affected = _by_operator(outcome.totals)
    # guards speak of operators beyond those that were chosen
    named = affected.keys() | _by_operator(outcome.suppressed_totals).keys()
    chosen_texts = (*map(str, chosen_names), *(operator.name for operator in higher_order))
    looked_at, left_out = len(named.union(chosen_texts)), NotChecked()
    if built is None:
        looked_at, left_out = operators_checked(view, chosen_texts, named)
    idle = {check.id: need for check, need in outcome.idle}
    use = None
    if baseline is not None:
        ran = frozenset(check.id for check in checks) - idle.keys()
        about = None if guarded is None else frozenset(chosen_texts)
        use = baseline.use(lambda entry: entry.check in ran and (about is None or entry.operator in about))
    counts = Counter[Severity]()
    for total in outcome.totals:
        counts.update(total.counts)
    fail_on = next((setting.fail_on for setting in reversed(settings) if setting.fail_on is not None), FAIL_ON)
    totals = {total.check: total for total in outcome.totals}
    undecided = sum(registration.registers != "block" for registration in state.declarations.undecided)
    not_understood = len(state.declarations.unread)
    return FindingsReport(
        universe=state.dispatcher.universe.name,
        over_assumed=state.over_assumed,
        operators=looked_at,
        fail_on=fail_on,
        failed=(not looked_at and undecided + not_understood > 0)
        or any(severity.rank <= fail_on.rank for severity in counts),
        counts={severity: counts[severity] for severity in Severity},
        checks=tuple(
            ChosenCheck(check.id, check.code, check.title, check.severity, check.id not in idle, idle.get(check.id))
            for check in checks
        ),
        suppressed_count=sum(sum(total.counts.values()) for total in outcome.suppressed_totals),
        suppressed=tuple(suppressed),
        summary=tuple(_summary(check, totals[check.id]) for check in CHECKS if check.id in totals),
        affected={name: affected[name] for name in sorted(affected)},
        unlisted=tuple(
            UnlistedFindings(CODES[rest.check], *rest._replace(span=places.get((rest.check, rest.span), rest.span)))
            for listing in outcome.totals
            for rest in listing.unlisted()
        ),
        baseline=use,
        not_checked=left_out,
        undecided=undecided,
        not_understood=not_understood,
        unread_files=sum(statement.unread for statement in state.declarations.unread),
        built=None if built is None else BuiltSource(built.source, built.universe),
        conditions=_checked_conditions(state, conditions),
        unknown_schemas=tuple(str(name) for name in view.operators if name in view.own and view.is_unknown(name)),
        open_promises=_open_promises(totals, changed),
        findings=reported(findings),
    )


def _open_promises(totals: Mapping[str, Listing], changed: Mapping[str, Severity]) -> int:
    """Number of findings about promises that could not be checked: the infos, unless settings made all such."""
    if PROMISES.id not in totals or PROMISES.id in changed:
        return 0
    return totals[PROMISES.id].counts.get(Severity.INFO, 0)


def _checked_conditions(state: State, conditions: Conditions | None) -> CheckedConditions | None:
    variants = state.variants
    if variants is None:
        return None
    chosen = tuple(f"{name}={value}" for name, value in variants.chosen.items())
    states = 1 if conditions is None else len(variants.variants)
    operators = sum("::" in unit for unit in variants.family_of)
    return CheckedConditions(variants.atoms, chosen, operators, states, tuple(variants.capped))


def _conditions(
    state: State, view: View, further: Iterable[FurtherState], asked: frozenset[OperatorName] | None
) -> Conditions | None:
    """The conditions of registrations; None where there are none. asked: the operators that are; None for all."""
    variants = state.variants
    if variants is None:
        return None
    from dispatch_cli.checks.running.conditions import Conditions, OtherVariant
    from dispatch_cli.engine.variants import unit_of

    units = None if asked is None else frozenset(map(unit_of, asked))
    others = []
    for other, cases in further:
        names = (name for name in other.own_operators() if unit_of(name) in cases)
        chosen = tuple(name for name in names if units is None or unit_of(name) in units)
        others.append(OtherVariant(View(other, chosen, frozenset(chosen), first=view), cases))
    return Conditions(variants.family_of, variants.default.cases, others, variants.guards)


def unknown_checks(state: State, settings: Sequence[CheckSettings]) -> tuple[UnknownCheck, ...]:
    """Names in the settings and suppressions of a run that belong to no check."""
    declared = state.declarations
    selectors: list[Selector] = []
    for setting in settings:
        selectors += [*(setting.select or ()), *setting.ignore, *(selector for selector, _ in setting.severities)]
    selectors += [selector for suppression in declared.suppressions for selector in suppression.checks]
    return unknown(CHECKS, selectors)


def reported(findings: Sequence[Finding]) -> tuple[ReportedFinding, ...]:
    """Findings of one run as they are reported."""
    return tuple(
        ReportedFinding(CODES[finding.check], finding, fingerprint)
        for finding, fingerprint in zip(findings, fingerprints(findings), strict=True)
    )


def _by_operator(totals: Iterable[Listing]) -> dict[str, Counter[Severity]]:
    by_operator: dict[str, Counter[Severity]] = {}
    for listing in totals:
        for operator, counts in listing.by_operator.items():
            by_operator.setdefault(operator, Counter()).update(counts)
    return by_operator


def _summary(check: Check, total: Listing) -> CheckSummary:
    worst = min(total.counts, key=lambda severity: severity.rank)
    return CheckSummary(check.code, check.id, worst, sum(total.counts.values()), len(total.by_operator), check.title)


def _suppressed(state: State, entry: Suppressed) -> SuppressedFinding:
    return SuppressedFinding(entry.by.reason, entry.by.span, CODES[entry.finding.check], placed(state, entry.finding))


def placed(state: State, finding: Finding) -> Finding:
    """A finding at the word that is meant. In a file that the user did not name, it says through what the file came."""
    if finding.span is None:
        return finding
    spans = {note.span for note in finding.related}
    through = state.origin_of(finding.span).through[::-1]
    words = ("this file is extended here", *("and that file is extended here" for _ in through[1:]))
    related = tuple(Related(word, span) for word, span in zip(words, through, strict=False) if span not in spans)
    span = finding.span if finding.mark is None else at_word(finding.span, finding.mark, finding.mark_follows)
    return _in_words(finding._replace(span=span, related=(*finding.related, *related)))


def _in_words(finding: Finding) -> Finding:
    """The same; its sentences say the condition as a reader of the source knows it."""
    if finding.when is None or finding.span is None:
        return finding
    from dispatch_cli.answers.shared.conditions import when_words

    written, words = f" (when {finding.when})", f" ({when_words(finding.when, finding.span)})"
    group = finding.group_message
    group = None if group is None else group.replace(written, words, 1)
    return finding._replace(message=finding.message.replace(written, words, 1), group_message=group)


def grouped(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings that belong together, in the order of their first."""
    groups: dict[object, list[Finding]] = {}
    for finding in findings:
        key = finding if finding.group_message is None else (finding.check, finding.group_message, finding.span)
        groups.setdefault(key, []).append(finding)
    return list(groups.values())


def by_place(findings: Iterable[ReportedFinding]) -> list[list[ReportedFinding]]:
    """The findings of one check at one place, in the order of their first; of those without one, what `grouped` says.

    They are one result in code scanning, as CodeQL's are, and one annotation.
    """
    groups: dict[object, list[ReportedFinding]] = {}
    for entry in findings:
        finding = entry.finding
        key: object = (finding.check, finding.span)
        if finding.span is None:
            key = finding if finding.group_message is None else (finding.check, finding.group_message)
        groups.setdefault(key, []).append(entry)
    return list(groups.values())


def _place(finding: Finding, slots: Mapping[str, int]) -> tuple[object, ...]:
    """Sort key of a finding in a report: by place, those without one first; then by check, operator, key and text.

    slots: the position of each key.
    """
    span = finding.span
    where = (span.file, span.line, span.column) if span is not None else ("", 0, 0)
    what = CODES[finding.check], finding.operator or "", slots.get(finding.key or "", -1)
    return where, what, finding.message, finding.subject
