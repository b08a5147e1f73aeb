"""Findings and problems as GitHub's workflow commands, which become annotations of a pull request.

Source: ``@actions/core``, ``command.ts``: what is escaped differs between a command's properties and its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from dispatch_cli.answers.findings.ci.places_wording import STANDARD_INPUT, relative_path, text_lines, worst
from dispatch_cli.answers.findings.report import FindingsReport, by_place
from dispatch_cli.answers.findings.summary_document import unlisted_sentence
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.severity import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.text_safety import safe, safe_lines

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def findings_github(report: FindingsReport, root: Path) -> Iterator[str]:
    """A command for the findings of a check at one place: GitHub shows only ten annotations of a kind for each step."""
    for reported in by_place(report.findings):
        group = [entry.finding for entry in reported]
        yield _command(_COMMANDS[worst(group)], group[0].span, group[0].check, "\n".join(text_lines(group, str)), root)
    for rest in report.unlisted:
        yield _command(_COMMANDS[rest.severity], rest.span, rest.check, unlisted_sentence(rest), root)


def problems_github(problems: Iterable[Problem], root: Path) -> Iterator[str]:
    """A command for each problem of the input."""
    for problem in problems:
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
