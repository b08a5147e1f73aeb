"""Findings as a SARIF 2.1.0 log, for code scanning.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0; the section of each rule is named where it matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dispatch_cli import __version__
from dispatch_cli.answers.findings.baseline import fingerprint
from dispatch_cli.answers.findings.ci.places_wording import STANDARD_INPUT, common_tip, relative_path, sentences, worst
from dispatch_cli.answers.findings.report import FindingsReport, ReportedFinding, UnlistedFindings, by_place
from dispatch_cli.answers.findings.summary_document import GROUPS, unlisted_sentence
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.model.names import Severity
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span
from dispatch_cli.render.printed import safe_lines

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
"""SARIF's word for each severity (section 3.27.10)."""
_ROOT = "%SRCROOT%"
INPUT = "bad-input"
"""The rule of what is wrong with the input."""


def findings_sarif(report: FindingsReport, root: Path) -> Iterator[str]:
    """One run: every check there is as a rule, whether it ran and found something or not; and the results.

    The findings of one check at one place are one result.
    """
    positions = {check.id: position for position, check in enumerate(CHECKS)}
    results = [_result(group, positions[group[0].finding.check], root) for group in by_place(report.findings)]
    properties = {"universe": report.universe, "operators": report.operators}
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if report.unlisted:
        invocation["toolExecutionNotifications"] = [
            _unlisted(rest, positions[rest.check], root) for rest in report.unlisted
        ]
    yield from _log([_rule(check) for check in CHECKS], invocation, results, properties)


def _unlisted(rest: UnlistedFindings, position: int, root: Path) -> dict[str, Any]:
    """Findings that are not listed, as a notification."""
    return {
        "associatedRule": {"id": rest.check, "index": position},
        "level": LEVELS[rest.severity],
        "message": _message(unlisted_sentence(rest)),
        "properties": {"findings": rest.findings},
        **_locations(rest.span, root),
    }


def problems_sarif(problems: Sequence[Problem], root: Path) -> Iterator[str]:
    """One run that failed: each problem of the input as a notification (section 3.58), and as a result at its place."""
    rule = {
        "id": INPUT,
        "name": "BadInput",
        "shortDescription": {"text": "declarations and settings are valid"},
        "fullDescription": {"text": "If declarations or settings cannot be read or registered, no check runs."},
        "defaultConfiguration": {"level": "error"},
    }
    count = len(problems)
    invocation = {
        "executionSuccessful": False,
        "exitCode": 2,
        "exitCodeDescription": f"{count} {'error' if count == 1 else 'errors'} in the input; nothing was checked",
        "toolExecutionNotifications": [_notification(problem, root) for problem in problems],
    }
    results = [_problem_result(problem, len(CHECKS), root) for problem in problems if _is_shown(problem.span)]
    yield from _log([*(_rule(check) for check in CHECKS), rule], invocation, results, {})


def _log(
    rules: list[dict[str, Any]], invocation: dict[str, Any], results: list[dict[str, Any]], properties: dict[str, Any]
) -> Iterator[str]:
    """A log with one run."""
    run = {
        "tool": {"driver": {"name": "dispatch-cli", "version": __version__, "rules": rules}},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": properties,
    }
    yield json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "name": "".join(word.capitalize() for word in check.id.split("-")),
        "shortDescription": {"text": check.title},
        "fullDescription": {"text": check.documentation.strip().partition("\n\n")[2].partition("\n\n")[0]},
        "help": {"text": check.documentation.strip(), "markdown": check.documentation.strip()},
        "defaultConfiguration": {"level": LEVELS[check.severity], "enabled": check.default},
        "properties": {"code": check.code, "tags": [GROUPS[check.group]]},
    }


def _result(reported: Sequence[ReportedFinding], position: int, root: Path) -> dict[str, Any]:
    """The findings of one check at one place; the fingerprint is that of the first."""
    group = [entry.finding for entry in reported]
    tip, text = common_tip(group), "\n".join(sentences(group))
    result: dict[str, Any] = {
        "ruleId": group[0].check,
        "ruleIndex": position,
        "level": LEVELS[worst(group)],
        "message": _message(text if tip is None else f"{text}\nTip: {tip}"),
        "locations": [location] if (location := _location(group, root)) else [],
        "partialFingerprints": {"dispatchCliFinding/v1": reported[0].fingerprint},
    }
    each = [_properties(item) | {"message": _text(item.message)} for item in group]
    result |= _related(dict.fromkeys(note for finding in group for note in finding.related), root)
    return {**result, "properties": _properties(group[0]) if len(group) == 1 else {"findings": each}}


def _properties(finding: Finding) -> dict[str, Any]:
    details = {_text(name): _text(value) for name, value in finding.details}
    operator = None if finding.operator is None else _text(finding.operator)
    return {"operator": operator, "key": finding.key, "details": details}


def _location(group: Sequence[Finding], root: Path) -> dict[str, Any]:
    location: dict[str, Any] = {}
    span = group[0].span
    if span is not None and _is_shown(span):
        location["physicalLocation"] = _physical(span, root)
    about = dict.fromkeys((finding.operator, finding.key) for finding in group if finding.operator is not None)
    names = [f"{operator}{'' if key is None else f' at {key}'}" for operator, key in about]
    if names:
        location["logicalLocations"] = [{"fullyQualifiedName": _text(name), "kind": "function"} for name in names]
    return location


def _notification(problem: Problem, root: Path) -> dict[str, Any]:
    entry = {"descriptor": {"id": problem.code}, "level": "error", "message": _problem_message(problem)}
    return {**entry, **_locations(problem.span, root)}


def _problem_result(problem: Problem, position: int, root: Path) -> dict[str, Any]:
    assert problem.span is not None, "only problems with a place are results"
    identity = json.dumps([problem.code, relative_path(problem.span.file, root), problem.message])
    return {
        "ruleId": INPUT,
        "ruleIndex": position,
        "level": "error",
        "message": _problem_message(problem),
        **_locations(problem.span, root),
        "partialFingerprints": {"dispatchCliProblem/v1": fingerprint(identity)},
        "properties": {"code": problem.code},
        **_related(problem.related, root),
    }


def _problem_message(problem: Problem) -> dict[str, str]:
    return _message(problem.message if problem.hint is None else f"{problem.message}\nTip: {problem.hint}")


def _is_shown(span: Span | None) -> bool:
    """True if a place is in a file that others can see."""
    return span is not None and span.file != STANDARD_INPUT


def _related(related: Iterable[Related], root: Path) -> dict[str, Any]:
    shown = enumerate(note for note in related if _is_shown(note.span))
    places = [
        {"id": number, "physicalLocation": _physical(note.span, root), "message": _message(note.message)}
        for number, note in shown
    ]
    return {"relatedLocations": places} if places else {}


def _locations(span: Span | None, root: Path) -> dict[str, Any]:
    """The field of a place; none where nobody can see it."""
    return {"locations": [{"physicalLocation": _physical(span, root)}]} if span is not None and _is_shown(span) else {}


def _physical(span: Span, root: Path) -> dict[str, Any]:
    return {
        "artifactLocation": _artifact(span.file, root),
        "region": {"startLine": span.line, "startColumn": span.column},
    }


def _artifact(file: str, root: Path) -> dict[str, str]:
    """A relative reference where the file lies below the root of the run (section 3.4.4), else a file URI."""
    path = relative_path(file, root)
    uri = quote(path, errors="surrogateescape")
    if path.startswith("/"):
        return {"uri": f"file://{uri}"}
    # A first segment with a colon would be read as a scheme; quote has escaped it.
    return {"uri": uri, "uriBaseId": _ROOT}


def _message(text: str) -> dict[str, str]:
    """A plain-text message; ``[text](target)`` in it would be a link (section 3.11.6), so it is taken apart."""
    return {"text": _text(text).replace("](", "]\\(")}


def _text(text: str) -> str:
    """Text from outside: control and direction characters are spelled out."""
    return safe_lines(text)
