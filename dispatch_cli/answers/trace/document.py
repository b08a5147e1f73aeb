"""A recorded program: a summary, the tree of calls of each thread, what is worth knowing, and totals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from dispatch_cli.answers.trace.findings.report import TraceFinding, TraceFindingKind
from dispatch_cli.answers.trace.findings.wording import (
    LOSSES,
    TITLES,
    finding_help,
    finding_keys,
    finding_places,
    findings_sentence,
)
from dispatch_cli.answers.trace.report import OperatorTotal, TraceReport, TraceRow, TraceThread, heaviest_lines
from dispatch_cli.answers.trace.wording import (
    TIMES,
    duration,
    headings_of,
    missing_sentences,
    path_total,
    row_end,
    row_path,
    seen_sentence,
    short_heading,
    state_sentence,
)
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    joined,
    lines,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import plural, short_kernel
from dispatch_cli.trace.recording import PythonPlace

INDENT = 2
"""Blanks before a call for each call that it is inside of."""
MOST_INDENTED = 24
"""So many levels are indented. Calls that are deeper, as of an operator that calls itself, say their level."""


def thread_title(thread: TraceThread) -> str:
    """The name of a thread, and how many calls it has."""
    return f"{f'Thread {thread.name}' if thread.name else 'unnamed thread'}: {plural(thread.calls, 'call')}"


class ShownLine(NamedTuple):
    """A line of a table: a row, or the lines of Python that the rows below it are from.

    indent: in blanks. place: the line of Python that the heading, or the row, is about.
    """

    row: TraceRow | None
    heading: str
    indent: int
    place: PythonPlace | None = None


def tree_lines(rows: Sequence[TraceRow], directory: str | None) -> Iterator[ShownLine]:
    """The rows, and above those of each line of Python that line."""
    around = [("", "")]
    """The headings that are above the rows of each level, and of those inside of it."""
    room = 0
    for row in rows:
        del around[row.level + 2 :]
        while len(around) < row.level + 2:
            around.append(around[-1])
        before = around[row.level + 1]
        if (headings := headings_of(row, directory)) != before:
            around[row.level + 1] = headings
            place, forward = headings
            if place and (place != before[0] or not forward):
                room = INDENT
                yield ShownLine(None, place, INDENT * row.level, place=row.place)
            if forward:
                yield ShownLine(None, forward, INDENT * row.level + room, place=row.forward_place)
        yield ShownLine(row, "", INDENT * row.level + room, row.place)


def _columns() -> list[Column[ShownLine]]:
    def number(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return Run("" if row is None else str(row.number), Tone.DIM)

    def operator(line: ShownLine, short: bool) -> Inline:
        row, indent = line.row, Run(" " * min(line.indent, INDENT * MOST_INDENTED))
        if row is None:
            return (indent, Run(short_heading(line.heading) if short else line.heading, Tone.PLACE))
        label = Run(row.operator, Tone.BAD if row.raised else Tone.HEAD)
        if line.indent > INDENT * MOST_INDENTED:
            return (indent, Run(f"level {row.level}: ", Tone.DIM), label)
        return (indent, label)

    def kernels(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return "" if row is None else joined(row_path(row), *row_end(row))

    def times(line: ShownLine, _: bool) -> Inline:
        row = line.row
        return "" if row is None or row.times == 1 else f"{TIMES}{row.times:,}"

    def milliseconds(line: ShownLine, _: bool) -> Inline:
        spent = None if line.row is None else line.row.microseconds
        return "" if spent is None else f"{spent / 1000:,.1f}"

    return [
        Column("Call", number, wraps=False, right=True),
        Column("Operator", operator, wraps=False, overflows=True),
        Column("", times, wraps=False, right=True, optional=True),
        Column("Kernels in turn", kernels),
        Column("ms", milliseconds, wraps=False, right=True, optional=True),
    ]


*COLUMNS, _TIME = _columns()
TIMED_COLUMNS = [*COLUMNS[:-1], _TIME, COLUMNS[-1]]
"""The same with the time of each line."""


TOTALS = 20


def document(report: TraceReport, limit: int | None = None) -> Iterator[Block]:
    """The answer. limit: of the lines of the trees, the heaviest of which are shown; None for all."""
    yield from _summary(report)
    if report.counts.shown:
        yield from _trees(report, limit)
    else:
        yield Gap()
        yield Paragraph(_without_calls(report))
    yield from _operators(report)
    yield from findings_blocks(report)


def _trees(report: TraceReport, limit: int | None) -> Iterator[Block]:
    threads: Iterable[TraceThread] = report.threads
    if limit is not None:
        threads, count = heaviest_lines(threads, limit)
        if count > limit:
            yield Gap()
            yield Paragraph("Heaviest calls", kind=ParagraphKind.SECTION)
            yield Paragraph(
                f"{limit:,} of {count:,} lines, by the time of their calls with those inside; --full shows all. --op "
                "and --only choose calls."
            )
    for thread in threads:
        yield Gap()
        if report.counts.threads > 1:
            yield Paragraph(thread_title(thread), kind=ParagraphKind.SECTION)
        yield TableBlock(TIMED_COLUMNS, [*tree_lines([*thread.rows], report.directory)])


def _without_calls(report: TraceReport) -> str:
    """Reason why no call is shown."""
    if report.counts.calls:
        return "No call matches."
    if report.not_recorded:
        return "No call was recorded."
    return "No call was recorded: the program called no operator. Processes that it started are not recorded."


def _summary(report: TraceReport) -> Iterator[Block]:
    counts = report.counts
    yield Paragraph(f"Trace of {' '.join(report.argv) or report.recording}", kind=ParagraphKind.TITLE)
    python = f", Python {report.python}" if report.python else ""
    where = f", in {report.directory}" if report.directory else ""
    yield Paragraph(Run(f"PyTorch {report.torch}{python}{where}", Tone.DIM))
    of = f"{plural(counts.operators, 'operator')}, on {plural(counts.threads, 'thread')}"
    within = f" within {duration(counts.microseconds)}" if counts.microseconds is not None else ""
    calls = f"{counts.calls:,}{within}: {counts.distinct:,} distinct, of {of}" if counts.calls else "none"
    facts = [Fact("Calls", calls)]
    if counts.shown != counts.calls:
        facts.append(Fact("Shown", plural(counts.shown, "call")))
    if counts.raised:
        facts.append(Fact("Raised", joined(Run(plural(counts.raised, "call"), Tone.BAD), "; --only raised shows them")))
    if counts.unfinished:
        unfinished = f"{plural(counts.unfinished, 'call')}, whose end is not recorded"
        facts.append(Fact("Unfinished", Run(unfinished, Tone.WARN)))
    if counts.shown:
        facts.append(Fact("Findings", findings_sentence(report.findings)))
    facts.append(Fact("Kernels", seen_sentence(report)))
    facts.append(Fact("Registrations", state_sentence(report)))
    if missing := missing_sentences(report):
        facts.append(Fact("Not recorded", lines(*missing, tone=Tone.WARN)))
    yield Facts(facts)


def _operators(report: TraceReport) -> Iterator[Block]:
    if not report.operators:
        return
    yield Gap()
    yield Paragraph("Operators", kind=ParagraphKind.SECTION)
    yield Paragraph("Times include the calls inside of a call, and what recording costs.")
    rows = report.operators[:TOTALS]

    def paths(row: OperatorTotal, _: bool) -> Inline:
        several = len(row.paths) > 1
        totals = (f"{path_total(each)}{f' {TIMES}{each.calls:,}' if several else ''}" for each in row.paths[:4])
        return lines(*totals, *([f"{len(row.paths) - 4} more"] if len(row.paths) > 4 else []))

    columns: list[Column[OperatorTotal]] = [
        Column("Operator", lambda row, _: Run(row.operator, Tone.HEAD), wraps=False),
        Column("Calls", lambda row, _: f"{row.calls:,}", right=True),
        Column("ms", lambda row, _: f"{row.microseconds / 1000:,.1f}", right=True),
        Column("Kernels in turn", paths),
    ]
    yield TableBlock(columns, rows)
    if len(report.operators) > TOTALS:
        yield Paragraph(f"{len(report.operators) - TOTALS} more operators with fewer calls")


def findings_blocks(report: TraceReport) -> Iterator[Block]:
    """The findings of each kind, and what to do about them."""
    if report.counts.shown and not report.findings:
        yield Gap()
        yield Paragraph("No findings.")
    for kind, group in groupby(report.findings, lambda finding: finding.kind):
        rows = [*group]
        yield Gap()
        yield Paragraph(f"{TITLES[kind]} ({kind.value})", kind=ParagraphKind.SECTION)
        yield Paragraph(finding_help(rows[0]))
        yield TableBlock(_finding_columns(kind, report.directory), rows)


def _finding_columns(kind: TraceFindingKind, directory: str | None) -> list[Column[TraceFinding]]:
    def kernel(row: TraceFinding, short: bool) -> Inline:
        return "" if row.kernel is None else short_kernel(row.kernel) if short else row.kernel

    others = _OTHER_KEYS.get(kind, "")
    return [
        Column("Operator", lambda row, _: Run(row.operator, Tone.HEAD), wraps=False),
        Column("Calls", lambda row, _: f"{row.calls:,}", right=True),
        Column("First", lambda row, _: Run(str(row.first), Tone.DIM), right=True),
        Column(_KEYS.get(kind, "Key"), lambda row, _: finding_keys(row)[0], wraps=False),
        Column("Backward pass", lambda row, _: LOSSES[row.gradient], optional=True),
        Column(others, lambda row, _: finding_keys(row)[1] if others else "", optional=True),
        Column("Kernel", kernel, Narrow.BELOW, optional=True),
        Column("Python lines", lambda row, _: Run(finding_places(row, directory), Tone.PLACE), Narrow.BELOW, True),
    ]


_KEYS = {TraceFindingKind.NO_GRADIENT: "Missing at", TraceFindingKind.DIFFERENT: "Ran"}
"""The heading of the key of a finding, where it is not "Key"."""
_OTHER_KEYS = {
    TraceFindingKind.DECOMPOSES: "Kernel at",
    TraceFindingKind.STALE: "Later kernel at",
    TraceFindingKind.NOT_BY_CONVENTION: "Predicted next",
    TraceFindingKind.DIFFERENT: "Predicted",
}
"""The heading of the keys that a finding has beside its own."""


def sheet(report: TraceReport) -> Sheet:
    """A row for each line of the trees."""
    return Sheet(
        ("thread", "call", "level", "times", "operator", "kernels", "end", "python_line", "microseconds"),
        (
            (
                thread.name,
                row.number,
                row.level,
                row.times,
                row.operator,
                tuple(kernel.key for kernel in row.path.kernels),
                row.path.end,
                None if row.place is None else str(row.place),
                row.microseconds,
            )
            for thread in report.threads
            for row in thread.rows
        ),
    )
