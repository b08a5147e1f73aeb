"""A short Markdown page about a run of the checks, for the summary of a CI job.

GitHub shows what a step appends to the file that ``$GITHUB_STEP_SUMMARY`` names, up to 1 MiB of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from dispatch_cli.answers.findings import summary_document as findings_summary
from dispatch_cli.answers.findings.ci.places_wording import place_text, sentences, worst
from dispatch_cli.answers.findings.report import FindingsReport, ReportedFinding, by_place, summary_of
from dispatch_cli.answers.findings.summary_document import severity_run
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Paragraph, ParagraphKind, Run, TableBlock, Tone
from dispatch_cli.render.words import plural

MAX_SHOWN = 50
"""Number of places that are shown; the rest is counted."""
MAX_TEXT = 600
"""Characters of the text about one place."""


def findings_step_summary(report: FindingsReport, title: str, root: Path) -> Iterator[Block]:
    """Step summary: the result of the run, a row for each check that found something, and a row for each place."""
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    yield from findings_summary.document(summary_of(report))
    places = sorted(by_place(report.findings), key=lambda group: _worst(group).rank)
    columns: list[Column[list[ReportedFinding]]] = [
        Column("Severity", lambda group, _: severity_run(_worst(group))),
        Column("Place", lambda group, _: _place(group[0].finding.span, root)),
        Column("Finding", lambda group, _: _cut("\n".join(sentences([entry.finding for entry in group])))),
    ]
    yield TableBlock(columns, places[:MAX_SHOWN])
    shown = Counter(entry.finding.severity for group in places[:MAX_SHOWN] for entry in group)
    others = {severity: count - shown[severity] for severity, count in report.counts.items() if count > shown[severity]}
    if others:
        counts = ", ".join(plural(count, severity.value) for severity, count in others.items())
        yield Paragraph(f"and {plural(sum(others.values()), 'finding')} more, not listed here: {counts}")


def problems_step_summary(problems: Sequence[Problem], title: str, root: Path) -> Iterator[Block]:
    """Step summary of a run that checked nothing: a row for each problem of the input."""
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    count = plural(len(problems), "error")
    yield Paragraph(Run(f"Nothing was checked: {count} in the input", Tone.BAD))
    columns: list[Column[Problem]] = [
        Column("Place", lambda problem, _: _place(problem.span, root)),
        Column("Error", lambda problem, _: _cut(problem.message)),
        Column("Help", lambda problem, _: _cut(problem.hint or "")),
    ]
    yield TableBlock(columns, problems[:MAX_SHOWN])
    if len(problems) > MAX_SHOWN:
        yield Paragraph(f"and {plural(len(problems) - MAX_SHOWN, 'error')} more")


def _worst(group: Sequence[ReportedFinding]) -> Severity:
    return worst([entry.finding for entry in group])


def _place(span: Span | None, root: Path) -> str:
    return "" if span is None else place_text(span, root)


def _cut(text: str) -> str:
    line = "; ".join(part.strip() for part in text.splitlines() if part.strip()).replace(":; ", ": ")
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]}…"
