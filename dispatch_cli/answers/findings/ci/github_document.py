"""Findings and problems as GitHub's workflow commands, which become annotations of a pull request.

Source: ``@actions/core``, ``command.ts``: what is escaped differs between a command's properties and its text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dispatch_cli.answers.findings import summary_document as findings_summary
from dispatch_cli.answers.findings.ci.places_wording import (
    STANDARD_INPUT,
    place_text,
    relative_path,
    sentences,
    text_lines,
    worst,
)
from dispatch_cli.answers.findings.report import FindingsReport, ReportedFinding, by_place
from dispatch_cli.answers.findings.summary_document import severity_run, unlisted_sentence
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Paragraph, ParagraphKind, TableBlock
from dispatch_cli.render.printed import safe, safe_lines
from dispatch_cli.render.problems import problems
from dispatch_cli.render.words import plural

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}
MAX_SHOWN = 50
"""Number of places that are shown; the rest is counted."""
MAX_TEXT = 600
"""Characters of the text about one place."""


def findings_github(report: FindingsReport, root: Path) -> Iterator[str]:
    """A command for the findings of a check at one place, the worst first: GitHub shows only ten of a kind per step."""
    for reported in _worst_first(report):
        group = [entry.finding for entry in reported]
        yield _command(_COMMANDS[worst(group)], group[0].span, group[0].check, "\n".join(text_lines(group, str)), root)
    for rest in report.unlisted:
        yield _command(_COMMANDS[rest.severity], rest.span, rest.check, unlisted_sentence(rest), root)


def problems_github(listed: Iterable[Problem], root: Path) -> Iterator[str]:
    """A command for each problem of the input."""
    for problem in listed:
        lines = [problem.message]
        lines += (f"note: {note.message} ({note.span})" for note in problem.related)
        if problem.hint:
            lines.append(f"help: {problem.hint}")
        yield _command("error", problem.span, problem.code, "\n".join(lines), root)


def _command(severity: str, span: Span | None, title: str, text: str, root: Path) -> str:
    properties = []
    if span is not None and span.file != STANDARD_INPUT:
        properties += [("file", relative_path(span.file, root)), ("line", str(span.line)), ("col", str(span.column))]
    properties.append(("title", title))
    written = ",".join(f"{name}={_property(value)}" for name, value in properties)
    return f"::{severity} {written}::{_data(text)}\n"


def _data(text: str) -> str:
    return safe_lines(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(safe(text)).replace(":", "%3A").replace(",", "%2C")


def findings_step_summary(report: FindingsReport, title: str, root: Path) -> Iterator[Block]:
    """Step summary: the result of the run, a row for each check that found something, and a row for each place."""
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    yield from findings_summary.document(report)
    places = _worst_first(report)
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


def problems_step_summary(listed: Sequence[Problem], title: str) -> Iterator[Block]:
    """Step summary of a run that checked nothing: each problem of the input."""
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    yield from problems(listed)


def _worst_first(report: FindingsReport) -> list[list[ReportedFinding]]:
    return sorted(by_place(report.findings), key=lambda group: _worst(group).rank)


def _worst(group: Sequence[ReportedFinding]) -> Severity:
    return worst([entry.finding for entry in group])


def _place(span: Span | None, root: Path) -> str:
    return "" if span is None else place_text(span, root)


def _cut(text: str) -> str:
    line = "; ".join(part.strip() for part in text.splitlines() if part.strip()).replace(":; ", ": ")
    return line if len(line) <= MAX_TEXT else f"{line[:MAX_TEXT]}…"
