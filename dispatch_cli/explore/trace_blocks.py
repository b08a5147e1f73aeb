"""Blocks of the view of a trace on the program, on a call, and on a finding, and its lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dispatch_cli.answers.trace.findings.report import TraceFinding
from dispatch_cli.answers.trace.findings.wording import (
    finding_help,
    finding_places,
    finding_text,
    finding_title,
)
from dispatch_cli.answers.trace.report import TraceReport, TraceRow
from dispatch_cli.answers.trace.tree_document import COLUMNS, ShownLine
from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.answers.trace.wording import (
    forward_calls,
    missing_sentences,
    place_text,
    seen_sentence,
    state_sentence,
    unfinished_sentence,
)
from dispatch_cli.explore.answers.trace import MOST_LINES, ShownCalls, findings_about
from dispatch_cli.explore.call_blocks import call_blocks
from dispatch_cli.explore.lines_view import can_be_written
from dispatch_cli.explore.session import PaneAnswer
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    Tone,
)
from dispatch_cli.render.words import plural
from dispatch_cli.trace.recording import PythonPlace

FINDINGS: list[Column[TraceFinding]] = [
    Column("Finding", lambda row, _: row.kind.value, wraps=False),
    Column("Operator", lambda row, _: Run(row.operator, Tone.HEAD), wraps=False),
    Column("Key", lambda row, _: row.key, wraps=False),
    Column("Calls", lambda row, _: f"{row.calls:,}", right=True),
    Column("First", lambda row, _: Run(str(row.first), Tone.DIM), right=True),
    Column("Python lines", lambda row, _: Run(finding_places(row, None), Tone.PLACE), Narrow.BELOW, optional=True),
]


def span_of(place: PythonPlace) -> Span:
    """A line of Python as a place that an editor opens."""
    return Span(place.file, max(1, place.line), 1)


def words_of(row: ShownLine | TraceFinding) -> str:
    """Text that a filter searches."""
    if isinstance(row, TraceFinding):
        return " ".join((row.kind.value, row.operator, row.key, row.kernel or "", *map(str, row.places)))
    call = row.row
    if call is None or call.operator is None:
        return ""
    keys = () if call.path is None else (kernel.key for kernel in call.path.kernels)
    return " ".join(
        (call.operator, *keys, *(fact.value for fact in call.facts), "" if row.place is None else str(row.place))
    )


BAR = "\u2588" if can_be_written("\u2588") else "#"
_BAR = 10
"""Characters of the longest bar."""


def with_bars(rows: Sequence[ShownLine]) -> list[Column[ShownLine]]:
    """The columns of calls, with a bar of what each takes of the time of the longest; without times, of the count."""
    is_timed = any(line.row is not None and line.row.microseconds is not None for line in rows)

    def taken(line: ShownLine) -> float:
        if line.row is None:
            return 0
        return (line.row.microseconds or 0) if is_timed else line.row.times

    most = max(map(taken, rows), default=0)

    def bar(line: ShownLine, _: bool) -> Run:
        return Run(BAR * round(_BAR * taken(line) / most) if most > 1 else "", Tone.FALLBACK)

    return [*COLUMNS, Column("Time" if is_timed else "Count", bar, Narrow.DROP, optional=True, wraps=False)]


def notes_of(report: TraceReport) -> tuple[tuple[str, str], ...]:
    """Notes on a recording: what it lacks, and where its registrations are from; each with a label."""
    notes = (
        ("Unfinished", unfinished_sentence(report)),
        ("Not recorded", "; ".join(missing_sentences(report))),
        ("Registrations", "" if report.embedded is None else state_sentence(report)),
    )
    return tuple((label, text) for label, text in notes if text)


def title_of(shown: ShownCalls, chosen: Sequence[str], is_wide: bool = True) -> Iterator[str | tuple[str, str]]:
    """Name of the program, the part of it that is shown, and the gaps in the recording.

    chosen: what is asked for, in words. is_wide: there is room for a line for each note; otherwise one names them all.
    """
    report, counts = shown.report, shown.report.counts
    yield (f"Trace of {' '.join(report.argv) or report.recording}", "bold")
    threads = f" on {plural(counts.threads, 'thread')}" if counts.threads > 1 else ""
    findings = plural(len(report.findings), "finding")
    yield f": {plural(counts.calls, 'call')} of {plural(counts.operators, 'operator')}{threads}, {findings}"
    if chosen:
        yield "\n"
        yield f"{plural(counts.shown, 'call')} {', '.join(chosen)}"
    if shown.cut:
        yield "\n"
        yield f"only the first {MOST_LINES:,} lines are shown; t and v choose calls"
    notes = notes_of(report)
    if is_wide or len(notes) < 2:
        for label, text in notes:
            yield "\n"
            yield (f"{label}: {text}", "$text-muted" if label == "Registrations" else "$text-warning")
    else:
        unfinished, embedded = report.counts.unfinished, report.embedded
        short = {
            "Unfinished": f"{unfinished:,} unfinished",
            "Not recorded": "parts not recorded",
            "Registrations": f"registrations of {embedded}",
        }
        yield "\n"
        yield (f"{', '.join(short[label] for label, _ in notes)}: see ?", "$text-warning")


def operator_of(row: Any) -> str | None:
    """The operator that a row is about."""
    if isinstance(row, TraceFinding):
        return row.operator
    return row.row.operator if isinstance(row, ShownLine) and row.row is not None else None


class TraceDetail:
    """Details of a call or a finding, and the lines of Python in it. directory: of the program."""

    def __init__(self, directory: str | None) -> None:
        self._directory = directory

    def of_call(
        self, view: TraceView, report: TraceReport, row: TraceRow, explained: PaneAnswer | None
    ) -> Iterator[Block]:
        """A call of a row. explained: as ``resolve`` explains it."""
        if row.operator is None:
            yield Paragraph(f"A group of {plural(row.calls, 'call')}, which comes {row.times:,} times in a row.")
            return
        yield Paragraph(Run(f"Call {row.number:,} of {row.operator}", Tone.HEAD))
        yield Facts([*self._facts(report, row)])
        for finding in findings_about(report, row):
            yield Paragraph(Run(f"! {finding_text(finding)}", Tone.WARN), hang=2)
        yield Gap()
        if explained is not None:
            yield from call_blocks(view.happened.of_call(row.number).state, explained.report)
        elif row.path is not None and row.path.problem is not None:
            yield Paragraph(Run(f"Nothing is known of it: {row.path.problem}.", Tone.WARN))

    def of_finding(self, finding: TraceFinding) -> Iterator[Block]:
        """A finding, what to do about it, and where it comes from."""
        yield Paragraph(finding_title(finding.kind), kind=ParagraphKind.SECTION)
        yield Paragraph(f"{finding.operator}: {finding_text(finding)}")
        yield Paragraph(finding_help(finding))
        facts = [Fact("Registered at", Run(finding.registered_at, Tone.PLACE))] if finding.registered_at else []
        facts += [self._place("Python line", place) for place in finding.places]
        if facts:
            yield Gap()
            yield Facts(facts)

    def _facts(self, report: TraceReport, row: TraceRow) -> Iterator[Fact]:
        if row.all > 1:
            yield Fact("Calls like it", f"{row.all:,}")
        if row.place is not None:
            yield self._place("Python line", row.place)
        if row.forward is not None:
            yield Fact("Backward of", forward_calls(row))
        if row.forward_place is not None:
            yield self._place("Forward line", row.forward_place)
        if row.microseconds is not None:
            yield Fact("Time", f"{row.microseconds / 1000:,.3f} ms")
        if row.raised:
            yield Fact("Raised", Run(plural(row.raised, "call"), Tone.BAD))
        if row.unfinished:
            yield Fact("Unfinished", Run(plural(row.unfinished, "call"), Tone.WARN))
        yield Fact("Kernels", seen_sentence(report))

    def _place(self, label: str, place: PythonPlace) -> Fact:
        """A line of Python, which opens in the editor."""
        return Fact(label, Run(place_text(place, self._directory), Tone.PLACE), span_of(place))
