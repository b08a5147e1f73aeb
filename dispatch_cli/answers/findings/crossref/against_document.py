"""Sources and a state beside each other: how much is the same, and what is not, with places."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from dispatch_cli.answers.findings.crossref.against import DIFFERENCES, AgainstCount, AgainstReport
from dispatch_cli.crossref.against import AgainstKind, AgainstOutcome, AgainstRow
from dispatch_cli.render.document import Block, Column, Gap, Narrow, Paragraph, ParagraphKind, Run, TableBlock, Tone
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import count_cell, plural

_WHAT = {
    AgainstKind.DEFINITION: "Definitions",
    AgainstKind.KERNEL: "Kernels",
    AgainstKind.FALLBACK: "Backend fallbacks",
}
_TITLES = {
    AgainstOutcome.DIFFERENT: "Different",
    AgainstOutcome.ONLY_IN_SOURCES: "Only in the sources",
    AgainstOutcome.ONLY_IN_STATE: "Only in {state}",
    AgainstOutcome.NOT_IN_BUILD: "Not in this build: the sources have these under conditions",
    AgainstOutcome.NOT_KNOWN: "In both, but the sources do not say the schema",
}


def document(report: AgainstReport, _: int | None = None) -> Iterator[Block]:
    """Document: the counts, the differences by outcome, and the result."""
    yield Paragraph(f"The sources and {report.state}", kind=ParagraphKind.TITLE)
    yield TableBlock(COUNTS, [count for count in report.counts if any(count[1:])])
    yield Gap()
    for outcome_, rows in groupby(report.differences, key=lambda row: row.outcome):
        yield Paragraph(_TITLES[outcome_].format(state=report.state), kind=ParagraphKind.SECTION)
        yield TableBlock(ROWS, [*rows], indent=2)
        yield Gap()
    if left := _left_out(report):
        yield Paragraph(Run(left, Tone.DIM))
    yield Paragraph(outcome(report))


COUNTS: list[Column[AgainstCount]] = [
    Column("", lambda count, _: _WHAT[count.registered]),
    Column("Same", lambda count, _: f"{count.same:,}", right=True),
    Column("Different", lambda count, _: count_cell(count.different, Tone.BAD), right=True),
    Column("Only in the sources", lambda count, _: count_cell(count.only_in_sources, Tone.BAD), right=True),
    Column("Only in the state", lambda count, _: count_cell(count.only_in_state, Tone.BAD), right=True),
    Column("Not in this build", lambda count, _: f"{count.not_in_build:,}", right=True),
    Column("Schema not known", lambda count, _: f"{count.not_known:,}", right=True),
]
ROWS: list[Column[AgainstRow]] = [
    Column("Operator", lambda row, _: Run(row.operator or "(fallback)", Tone.HEAD)),
    Column("Key", lambda row, _: row.key or "definition"),
    Column("In the sources", lambda row, _: _said(row.sources, str(row.place or "")), Narrow.BELOW, optional=True),
    Column("When", lambda row, short: _below("when", short, " and ".join(row.when)), Narrow.BELOW, optional=True),
    Column("In the state", lambda row, short: _in_state(row, short), Narrow.BELOW, optional=True),
]


def _below(label: str, short: bool, text: str) -> str:
    """The text of a cell; with its label, where it is on a line of its own."""
    return f"{label} {text}" if short and text else text


def _in_state(row: AgainstRow, short: bool) -> tuple[Run, ...]:
    runs = _said(row.state, row.debug or "")
    return (Run("in the state: "), *runs) if short and runs else runs


def _said(text: str | None, place: str) -> tuple[Run, ...]:
    """Content of a side and its place; empty for a side that has nothing."""
    runs = [] if text is None else [Run(text)]
    if place:
        runs.append(Run(f" {place}" if runs else place, Tone.PLACE))
    return tuple(runs)


def _left_out(report: AgainstReport) -> str:
    """Sentence about the parts of the sources that are not compared."""
    parts = []
    if report.undecided:
        parts.append(f"{plural(report.undecided, 'registration')} with an operator, key or namespace that is not known")
    if report.not_understood:
        parts.append(f"{plural(report.not_understood, 'statement')} that were not understood")
    return f"Not compared: {' and '.join(parts)}." if parts else ""


def outcome(report: AgainstReport) -> Run:
    """Result of the comparison, in one sentence."""
    compared = plural(sum(sum(count[1:]) for count in report.counts), "registration")
    if report.equal:
        return Run(f"No difference in {compared} ({report.universe})", Tone.KERNEL)
    number = sum(row.outcome in DIFFERENCES for row in report.differences)
    return Run(f"{plural(number, 'difference')} in {compared} ({report.universe})", Tone.BAD)


def sheet(report: AgainstReport) -> Sheet:
    """One row per registration that is not the same."""
    return Sheet(AgainstRow._fields, report.differences)
