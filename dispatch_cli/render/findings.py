"""Findings, one after the other: the sentence, the line in question, the facts; then how much was checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from dispatch_cli.checks.check import Finding
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from dispatch_cli.render import findings_summary
from dispatch_cli.render.document import Block, Column, Fact, Facts, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.findings_summary import SEVERITY_TONES, severity_run
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.snippets import marked_line, snippet
from dispatch_cli.render.unlisted import unlisted_sentence
from dispatch_cli.render.words import keys_label, short_kernel
from dispatch_cli.report.findings import FindingsReport, UnlistedFindings, grouped, summary_of

INDENT = 4
FEW = 3
"""So many findings of one check without a place are shown one by one; more are a list."""

MANY = 10
"""So many findings of one check at one place are shown one by one; more are a list below the place."""


def document(report: FindingsReport, width: int | None = None) -> Iterator[Block]:
    """Each finding, or group of findings with the same sentence; then a row for each check, where there are several."""
    titles = {check.id: check.title for check in report.checks}
    unlisted: dict[tuple[str, Span | None], list[UnlistedFindings]] = {}
    for one in report.unlisted:
        unlisted.setdefault((one.check, one.span), []).append(one)
    for placed, found in _alike(grouped(one.finding for one in report.findings)):
        if not placed and len(found) > FEW:
            yield from _list(titles[found[0][0].check], found)
            continue
        for span, here in groupby(found, key=lambda group: group[0].span):
            groups = list(here)
            first = groups[0][0]
            others = unlisted.pop((first.check, span), []) if placed else []
            if len(groups) > MANY:
                yield from _many(titles[first.check], groups, others, width)
                continue
            for group in groups:
                yield from finding_blocks(group, width)
            yield from _others(others)
    yield from _others(one for some in unlisted.values() for one in some)
    yield from findings_summary.document(summary_of(report), always=False)


def _others(unlisted: Iterable[UnlistedFindings]) -> Iterator[Block]:
    """How many more there are."""
    for one in unlisted:
        yield Paragraph((severity_run(one.severity), Run(f"[{one.check}]: {unlisted_sentence(one)}")), hang=4)
        yield Gap()


def _many(
    title: str, groups: list[list[Finding]], unlisted: list[UnlistedFindings], width: int | None
) -> Iterator[Block]:
    """Findings of one check at one place: the place once, and a sentence each."""
    first, *_ = findings = [finding for group in groups for finding in group]
    count = len(findings) + sum(one.findings for one in unlisted)
    yield _title(first, f"{count:,} findings; expected: {title}")
    yield from _snippet(first, width)
    for group in groups:
        message = group[0].message if len(group) == 1 else group[0].group_message or group[0].message
        yield Paragraph(message, INDENT, hang=2)
    for one in unlisted:
        yield Paragraph(unlisted_sentence(one), INDENT, hang=2)
    common = [pair for pair in first.details if all(pair in finding.details for finding in findings)]
    related = [one for one in first.related if all(one in finding.related for finding in findings)]
    tip = _tip(first) if all(one.tip == first.tip for one in findings) else []
    yield Facts([*(Fact(name, value) for name, value in common), *map(note_fact, related), *tip], INDENT, Tone.DIM)
    yield Gap()


def _alike(groups: Iterable[list[Finding]]) -> Iterator[tuple[bool, list[list[Finding]]]]:
    """Neighbours of one check: those with a place, and those without one by severity, the worst first."""
    for (_, placed), some in groupby(groups, key=lambda group: (group[0].check, group[0].span is not None)):
        found = list(some)
        if placed:
            yield True, found
            continue
        found.sort(key=lambda group: group[0].severity.rank)
        for _, same in groupby(found, key=lambda group: group[0].severity):
            yield False, list(same)


def _list(title: str, groups: list[list[Finding]]) -> Iterator[Block]:
    """Findings of one check that have no place: a sentence each."""
    first = groups[0][0]
    yield _title(first, f"{len(groups)} findings; expected: {title}")
    for group in groups:
        message = group[0].message if len(group) == 1 else group[0].group_message or group[0].message
        yield Paragraph(message, INDENT, hang=2)
    tip = _tip(first) if all(group[0].tip == first.tip for group in groups) else []
    yield Facts([*tip, Fact("more", f"dispatch-cli checks {first.check}")], INDENT, Tone.DIM)
    yield Gap()


def finding_blocks(group: list[Finding], width: int | None) -> Iterator[Block]:
    """A finding. Of several: what they have in common, then a row for each run of keys with equal details."""
    first, several = group[0], len(group) > 1
    yield _title(first, (several and first.group_message) or first.message)
    yield from _snippet(first, width)
    common = [pair for pair in first.details if all(pair in finding.details for finding in group)]
    related = [one for one in first.related if all(one in finding.related for finding in group)]
    facts = [*(Fact(name, value) for name, value in common), *map(note_fact, related)]
    if several:
        yield Facts(facts, INDENT, Tone.DIM)
        yield Gap()
        yield _group_table(group, common)
        yield Gap()
        facts = []
    yield Facts([*facts, *_tip(first)], INDENT, Tone.DIM)
    yield Gap()


Pairs = tuple[tuple[str, str], ...]
KeyRun = tuple[tuple[str, ...], Pairs]
"""Keys, and the details that the findings at all of them have."""


def _group_table(group: list[Finding], common: list[tuple[str, str]]) -> TableBlock[KeyRun]:
    def own(finding: Finding) -> Pairs:
        return tuple(pair for pair in finding.details if pair not in common)

    rows = [(tuple(one.key or "" for one in run), details) for details, run in groupby(group, key=own)]
    key: Column[KeyRun] = Column("Key", lambda row, short: keys_label(row[0], short))
    details = (_detail(name, position) for position, (name, _) in enumerate(rows[0][1]))
    return TableBlock([key, *details], rows, INDENT)


def _detail(name: str, position: int) -> Column[KeyRun]:
    def cell(row: KeyRun, short: bool) -> str:
        value = row[1][position][1]
        return short_kernel(value) if short else value

    return Column(name.capitalize(), cell)


def _title(finding: Finding, message: str) -> Paragraph:
    place = (Run(f"{finding.span}: ", Tone.HEAD),) if finding.span is not None else ()
    sentence = (severity_run(finding.severity), Run(f"[{finding.check}]: {message}"))
    return Paragraph((*place, *sentence), hang=4)


def _snippet(finding: Finding, width: int | None) -> Iterator[Block]:
    if finding.span is None:
        return
    room = None if width is None else width - len(str(finding.span.line)) - 7
    found = snippet(finding.span, finding.mark, room)
    if found is not None:
        yield marked_line(found, SEVERITY_TONES[finding.severity], INDENT)


def note_fact(related: Related) -> Fact:
    """Another place that matters."""
    return Fact("note", f"{related.message} ({related.span})")


def _tip(finding: Finding) -> list[Fact]:
    return [] if finding.tip is None else [Fact(Run("tip", Tone.ALIAS), finding.tip)]


def sheet(report: FindingsReport) -> Sheet:
    """A row for each finding, and one for those of a group that are not listed."""
    findings = (one.finding for one in report.findings)
    listed = ((one.check, one.severity, one.operator, one.key, one.message, one.span) for one in findings)
    others = ((one.check, one.severity, None, None, unlisted_sentence(one), one.span) for one in report.unlisted)
    rows = chain(listed, others)
    return Sheet(("check", "severity", "operator", "key", "message", "declared_at"), rows)
