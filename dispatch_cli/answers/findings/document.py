"""Findings: the sentence, the line in question, the facts; then how much was checked, and how the run ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import NamedTuple

from dispatch_cli.answers.findings import summary_document as findings_summary
from dispatch_cli.answers.findings.ci.places_wording import common_details, common_related
from dispatch_cli.answers.findings.report import CODES, FindingsReport, UnlistedFindings, grouped
from dispatch_cli.answers.findings.summary_document import SEVERITY_TONES, severity_run, unlisted_sentence
from dispatch_cli.checks.check import Finding, Group
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.names import OperatorName, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Fact, Facts, Gap, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.problems import snippet
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import keys_label, plural, short_kernel

INDENT = 4
FEW = 3
"""Entries that are shown with their lines; of more, only the sentences are shown, so that they fit on a screen."""
NAMED = 3
"""Further operators of an entry that are named."""
MAX_TITLE = 380
"""Characters of place and sentence of an entry: at most four lines at 100 columns."""


def document(report: FindingsReport, *, lowest: Severity = Severity.INFO, full: bool = True) -> Iterator[Block]:
    """Findings, worst first, then by place; then how much was checked, and at last how the run ends.

    lowest: the mildest severity that is shown. full: each finding is shown with all its facts; otherwise those of one
    check with one cause in one library are one entry.
    """
    shown = [item.finding for item in report.findings if item.finding.severity.rank <= lowest.rank]
    groups = sorted(grouped(shown), key=lambda group: group[0].severity.rank)
    unlisted = [rest for rest in report.unlisted if rest.severity.rank <= lowest.rank]
    if full:
        for group in groups:
            yield from finding_blocks(group)
    else:
        entries = _entries(groups, unlisted)
        for entry in entries:
            yield from _entry(entry, with_line=len(entries) <= FEW)
        places = {(group[0].check, group[0].span) for group in groups}
        unlisted = [rest for rest in unlisted if (rest.check, rest.span) not in places]
    for rest in unlisted:
        yield Paragraph((severity_run(rest.severity), Run(f"[{rest.check}]: {unlisted_sentence(rest)}")), hang=4)
        yield Gap()
    yield from findings_summary.document(report, counts=full and len(report.summary) > 1, lowest=lowest)


class _Entry(NamedTuple):
    """Findings of one check with one cause in one library. unlisted: how many more there are at their places."""

    groups: list[list[Finding]]
    unlisted: int


def _entries(groups: Iterable[list[Finding]], unlisted: Iterable[UnlistedFindings]) -> list[_Entry]:
    left = Counter[tuple[str, Span | None]]()
    for rest in unlisted:
        left[rest.check, rest.span] += rest.findings
    entries: dict[object, list[list[Finding]]] = {}
    for group in groups:
        entries.setdefault(_cause(group[0]), []).append(group)
    return [
        _Entry(groups, sum(left.pop((groups[0][0].check, span), 0) for span in {group[0].span for group in groups}))
        for groups in entries.values()
    ]


def _cause(finding: Finding) -> object:
    """A value that is the same for findings of one check with one cause in one library."""
    namespace = (finding.operator or "").rpartition("::")[0]
    words = [(text or "").replace(finding.operator or "\0", "") for text in (finding.tip, finding.group_message)]
    code = dict(finding.details).get("code")
    is_intention = CODES[finding.check].startswith(Group.INTENTIONS.value)  # a guard is a cause of its own
    place: object = finding.span if is_intention and finding.group_message is None else None
    if not namespace:
        place = finding.span if is_intention else finding.message
    return finding.check, finding.severity, namespace, place, *words, code, finding.when is None


def _entry(entry: _Entry, with_line: bool) -> Iterator[Block]:
    """The first finding, the names of some others like it, and what to do."""
    first = entry.groups[0]
    message = first[0].message if len(first) == 1 else first[0].group_message or first[0].message
    room = MAX_TITLE - len(f"{first[0].span}: {first[0].severity.value}[{first[0].check}]: ")
    yield _title(first, _cut(message, room))
    if with_line:
        yield from _snippet(first[0])
    yield Facts([*_facts(entry), *_tip(first[0])], INDENT, Tone.DIM)
    yield Gap()


def _facts(entry: _Entry) -> Iterator[Fact]:
    """Keys, a note, or the operators of further findings."""
    findings = [finding for group in entry.groups for finding in group]
    first = findings[0]
    file = None if first.span is None else first.span.file
    names = dict.fromkeys(_named(finding, file) for finding in findings)
    names.pop(_named(first, file))
    if names:
        named, count = [*names][:NAMED], len(findings) + entry.unlisted
        total = f"; {count:,} findings in all (--full lists them)" if count > 1 + len(named) else ""
        yield Fact("also", f"{', '.join(named)}{total}")
        return
    keys = tuple(dict.fromkeys(finding.key for finding in findings if finding.key is not None))
    if len(keys) > 1:
        yield Fact("keys", keys_label(keys, short=True))
    elif more := len(entry.groups) + entry.unlisted - 1:
        yield Fact("also", f"{plural(more, 'more finding')} here (--full lists {'it' if more == 1 else 'them'})")
    yield from map(note_fact, first.related[:1])


def _cut(message: str, room: int) -> str:
    """The message, or its start; the condition at its end is kept, unless that is long, too."""
    if len(message) <= room:
        return message
    sentence, separator, condition = message.rpartition(" (when ")
    end = f"{separator}{condition}" if separator and len(condition) < room // 2 else ""
    return f"{(sentence if end else message)[: room - len(end)]}…{end}"


def _named(finding: Finding, file: str | None) -> str:
    """An operator with its place, which is the line alone in the same file."""
    place = finding.span
    if place is None:
        return finding.operator or finding.message
    where = f"line {place.line}" if place.file == file else f"{place.file}:{place.line}"
    return f"{finding.operator} ({where})" if finding.operator else where


def finding_blocks(group: list[Finding]) -> Iterator[Block]:
    """A finding. Of several: what they have in common, then a row for each run of keys with equal details."""
    first, several = group[0], len(group) > 1
    yield _title(group, (several and first.group_message) or first.message)
    yield from _snippet(first)
    common = common_details(group)
    facts = [*(Fact(name, value) for name, value in common), *map(note_fact, common_related(group))]
    if several:
        yield Facts(facts, INDENT, Tone.DIM)
        yield Gap()
        yield _group_table(group, common)
        yield Gap()
        facts = []
    yield Facts([*facts, *_tip(first)], INDENT, Tone.DIM)
    yield Gap()


Pairs = tuple[tuple[str, str], ...]


class KeyRun(NamedTuple):
    """Findings at several keys, and the details that all of them have."""

    findings: tuple[Finding, ...]
    details: Pairs

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys."""
        return tuple(finding.key or "" for finding in self.findings)


def _group_table(group: list[Finding], common: list[tuple[str, str]]) -> TableBlock[KeyRun]:
    def own(finding: Finding) -> Pairs:
        return tuple(pair for pair in finding.details if pair not in common)

    rows = [KeyRun(tuple(run), details) for details, run in groupby(group, key=own)]
    key: Column[KeyRun] = Column("Key", lambda row, short: keys_label(row.keys, short))
    details = (_detail(name, position) for position, (name, _) in enumerate(rows[0].details))
    return TableBlock([key, *details], rows, INDENT)


def _detail(name: str, position: int) -> Column[KeyRun]:
    def cell(row: KeyRun, short: bool) -> str:
        value = row.details[position][1]
        return short_kernel(value) if short else value

    return Column(name.capitalize(), cell)


def _title(group: Sequence[Finding], message: str) -> Paragraph:
    finding = group[0]
    place = (Run(f"{finding.span}: ", Tone.HEAD),) if finding.span is not None else ()
    sentence = (severity_run(finding.severity), Run(f"[{finding.check}]: {message}"))
    return Paragraph((*place, *sentence), hang=4, link=tuple(group))


def _snippet(finding: Finding) -> Iterator[Block]:
    span, tone = finding.span, SEVERITY_TONES[finding.severity]
    if span is not None and (excerpt := snippet(span, finding.mark, tone, INDENT)) is not None:
        yield excerpt


def note_fact(related: Related) -> Fact:
    """Another place that matters."""
    return Fact("note", f"{related.message} ({related.span})", related.span)


def _tip(finding: Finding) -> list[Fact]:
    return [] if finding.tip is None else [Fact(Run("tip", Tone.ALIAS), finding.tip)]


def sheet(report: FindingsReport) -> Sheet:
    """A row for each finding, and one for those of a group that are not listed."""
    findings = (item.finding for item in report.findings)
    listed = ((item.check, item.severity, item.operator, item.key, item.message, item.span) for item in findings)
    others = ((rest.check, rest.severity, None, None, unlisted_sentence(rest), rest.span) for rest in report.unlisted)
    rows = chain(listed, others)
    return Sheet(("check", "severity", "operator", "key", "message", "declared_at"), rows)


def raw_findings(dispatcher: Dispatcher, report: FindingsReport) -> Iterator[str]:
    """The state that PyTorch's ``checkInvariants`` prints, of every operator with a finding."""
    from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
    from dispatch_cli.render.raw import parted

    listed = (entry.finding.operator for entry in report.findings)
    affected = dict.fromkeys((*(name for name in listed if name is not None), *report.affected))
    names = [OperatorName.parse(text) for text in affected]
    return parted(
        f"Canonical state\n~~~~~~~~~~~\n{dump_registrations(dispatcher, name)}\n\n"
        f"Computed table:\n~~~~~~~~~~~\n{dump_table(dispatcher, name)}"
        for name in names
    )
