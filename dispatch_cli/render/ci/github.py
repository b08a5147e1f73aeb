"""Findings and problems as GitHub's workflow commands, which become annotations of a pull request.

Source: ``@actions/core``, ``command.ts``: what is escaped differs between a command's properties and its text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dispatch_cli.checks.check import Finding
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.settings import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.ci.locations import STANDARD_INPUT, relative_path
from dispatch_cli.render.text_safety import safe, safe_lines
from dispatch_cli.render.words import keys_label
from dispatch_cli.report.findings import FindingsReport, grouped

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def findings_github(report: FindingsReport, root: Path) -> Iterator[str]:
    """A command for each group of findings: GitHub shows only ten annotations of a kind for each step."""
    for group in grouped(one.finding for one in report.findings):
        first = group[0]
        yield _command(_COMMANDS[first.severity], first.span, first.check, _finding_text(group), root)


def problems_github(problems: Iterable[Problem], root: Path) -> Iterator[str]:
    """A command for each problem of the input."""
    for problem in problems:
        lines = [problem.message]
        lines += _notes(problem.related)
        if problem.hint:
            lines.append(f"help: {problem.hint}")
        yield _command("error", problem.span, problem.code, "\n".join(lines), root)


def _finding_text(group: Sequence[Finding]) -> str:
    first = group[0]
    if len(group) == 1:
        lines = [first.message]
    else:
        keys = tuple(finding.key for finding in group if finding.key is not None)
        lines = [first.group_message or first.message, f"at {keys_label(keys)}"]
    lines += [f"{name}: {value}" for name, value in first.details if all((name, value) in one.details for one in group)]
    common = [one for one in first.related if all(one in finding.related for finding in group)]
    tip = [] if first.tip is None else [f"tip: {first.tip}"]
    return "\n".join([*lines, *_notes(common), *tip])


def _notes(related: Iterable[Related]) -> Iterator[str]:
    return (f"note: {one.message} ({one.span})" for one in related)


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
