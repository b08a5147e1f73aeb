"""The findings of a state, as ``check-invariants`` gives them, as rows of a list, and one of them in detail."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli import api
from dispatch_cli.answers.explain.advice.document import fragment
from dispatch_cli.answers.findings import checks_document as check_documents
from dispatch_cli.answers.findings.baseline.report import BaselineFilter
from dispatch_cli.answers.findings.checked import checked_operators
from dispatch_cli.answers.findings.checks import checks_report
from dispatch_cli.answers.findings.document import finding_blocks
from dispatch_cli.answers.findings.report import FindingsReport, UnlistedFindings, findings_report, grouped
from dispatch_cli.answers.findings.summary_document import severity_run, unlisted_sentence
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.listing import Limits
from dispatch_cli.checks.run import Progress
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.background import snapshot
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.changes.edit import Edit
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import Selector
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Gap,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    Tone,
)
from dispatch_cli.render.words import keys_label, place_cell

ALL = ("--severity", "info")
"""Options with which the text of the command lists the infos, too, as the views do."""


def findings_answer(session: Session, state: State | None = None, progress: Progress | None = None) -> PaneAnswer:
    """The findings of a session's state. state: a snapshot of it (`state_to_check`), for a thread."""
    state = state_to_check(session) if state is None else state
    report = _report(session, state, *checked_operators(state, bool(session.files or session.tried_file)), progress)
    return PaneAnswer(report, session.command("check-invariants", *ALL))


def findings_search(session: Session) -> Callable[[Progress], PaneAnswer]:
    """A function that gives the findings of a session's state, as it is now, and may run in a thread."""
    if session.state is session.original:
        return original_search(session)
    copy = state_to_check(session)
    return lambda progress: findings_answer(session, copy, progress)


def original_search(session: Session) -> Callable[[Progress], PaneAnswer]:
    """A function that gives the findings without the changes on trial, and may run in a thread.

    Several views need them; they are looked for once.
    """
    copy, cache, is_of_files = state_before(session), session.original_findings, bool(session.files)
    command = session.command_before("check-invariants", *ALL)

    def find(progress: Progress) -> FindingsReport:
        return _report(session, copy, *checked_operators(copy, is_of_files), progress)

    return lambda progress: PaneAnswer(cache.get(lambda: find(progress)), command)


def _report(
    session: Session,
    state: State,
    names: Iterable[OperatorName],
    higher_order: Sequence[HigherOrderOperator],
    progress: Progress | None,
) -> FindingsReport:
    setup = session.checks
    return findings_report(
        state,
        names,
        settings=setup.settings,
        baseline=None if setup.baseline is None else BaselineFilter(setup.baseline),
        progress=progress,
        higher_order=higher_order,
        limits=Limits(),
        further=api.further_states(state),
    )


def state_to_check(session: Session) -> State:
    """A state for a run of the checks alone, with the guards that the project names."""
    return snapshot(session.state, session.checks.guarded)


def state_before(session: Session) -> State:
    """The same without the changes on trial."""
    return snapshot(session.original, session.checks.guarded)


class FindingRow(NamedTuple):
    """Findings with one sentence.

    unlisted: how many more there are, where these are too many to be listed; then there are no findings.
    """

    check: str
    severity: Severity
    operator: str | None
    keys: tuple[str, ...]
    span: Span | None
    findings: tuple[Finding, ...]
    unlisted: UnlistedFindings | None = None

    @property
    def many(self) -> int:
        """Number of findings in the row."""
        return len(self.findings) if self.unlisted is None else self.unlisted.findings

    @property
    def words(self) -> str:
        """Text that a filter searches."""
        text = self.findings[0].message if self.findings else ""
        place = "" if self.span is None else str(self.span)
        return f"{self.severity.value} {self.check} {self.operator or ''} {' '.join(self.keys)} {place} {text}"


def finding_rows(report: FindingsReport) -> list[FindingRow]:
    """The findings of a report, worst first, a row for those with one sentence; then those that are not listed."""
    groups = grouped(reported.finding for reported in report.findings)
    rows = sorted(map(_row, groups), key=lambda row: row.severity.rank)
    return rows + [FindingRow(row.check, row.severity, None, (), row.span, (), row) for row in report.unlisted]


def _row(group: Sequence[Finding]) -> FindingRow:
    first = group[0]
    keys = tuple(dict.fromkeys(finding.key for finding in group if finding.key is not None))
    return FindingRow(first.check, first.severity, first.operator, keys, first.span, tuple(group))


COLUMNS: list[Column[FindingRow]] = [
    Column("Severity", lambda row, _: severity_run(row.severity)),
    Column("Count", lambda row, _: f"{row.many:,}" if row.many > 1 else "", optional=True, right=True),
    Column("Check", lambda row, _: row.check),
    Column("Operator", lambda row, _: _operator(row)),
    Column("Key", lambda row, short: keys_label(row.keys, short), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]


def _operator(row: FindingRow) -> Run:
    if row.unlisted is not None:
        return Run(f"{row.unlisted.findings:,} more", Tone.DIM)
    return Run(row.operator or "-", Tone.PLAIN if row.operator else Tone.DIM)


class FindingFix(NamedTuple):
    """The changes that end a finding."""

    edits: tuple[Edit, ...]


def finding_detail(row: FindingRow) -> Iterator[Block]:
    """A finding as the command shows it, a fix, and why it is a finding."""
    if row.unlisted is not None:
        yield Paragraph(unlisted_sentence(row.unlisted))
        yield Gap()
    else:
        yield from finding_blocks([*row.findings])
    edits = tuple(dict.fromkeys(edit for finding in row.findings for edit in finding.fix))
    if (text := fragment(edits)) is not None:
        yield Paragraph("A fix, as declarations: enter on it tries it", kind=ParagraphKind.SECTION)
        yield check_documents.code_block(text.rstrip())._replace(link=FindingFix(edits))
        yield Gap()
    (check,) = checks_report((Selector(row.check),)).checks
    yield from check_documents.of_finding(check, row.severity)


def opened_by(item: Any, state: State, row: FindingRow) -> Any:
    """Target of a part of a finding's details: a place of a file, a slot, or a fix."""
    if isinstance(item, Fact | Paragraph):
        return item.link
    if isinstance(item, tuple) and len(item) == 2:  # a KeyRun
        return spot_of(state, row, item[0][0])
    return None


def spot_of(state: State, row: FindingRow, key: str | None) -> Spot | None:
    """The operator of a finding, or its slot."""
    text = row.operator
    if text is None:
        return None
    name = OperatorName.parse(text)
    if name in state.dispatcher:
        known = key is not None and key in state.dispatcher.universe.slot
        return Spot(name, key if known else None)
    operator = state.higher_order_operator(text.removeprefix("higher_order::"))
    return None if operator is None else Spot(None, key, operator.name)
