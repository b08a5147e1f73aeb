"""Findings as a SARIF 2.1.0 log, for code scanning.

Source: OASIS, Static Analysis Results Interchange Format 2.1.0; the section of each rule is named where it matters.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dispatch_cli import __version__
from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.model.problem import Related
from dispatch_cli.model.settings import Severity
from dispatch_cli.model.span import Span
from dispatch_cli.render.checks import GROUPS
from dispatch_cli.render.ci.locations import STANDARD_INPUT, relative_path
from dispatch_cli.render.text_safety import safe_lines
from dispatch_cli.report.findings import FindingsReport

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
"""SARIF's word for each severity (section 3.27.10)."""
_ROOT = "%SRCROOT%"


def findings_sarif(report: FindingsReport, root: Path) -> Iterator[str]:
    """One run: every check there is as a rule, whether it ran and found something or not; every finding as a result."""
    positions = {check.id: position for position, check in enumerate(CHECKS)}
    results = [_result(one.finding, positions[one.finding.check], one.fingerprint, root) for one in report.findings]
    log = {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "dispatch-cli",
                        "version": __version__,
                        "rules": [_rule(check) for check in CHECKS],
                    }
                },
                "invocations": [{"executionSuccessful": True}],
                "columnKind": "unicodeCodePoints",
                "results": results,
                "properties": {"universe": report.universe, "operators": report.operators},
            }
        ],
    }
    yield json.dumps(log, indent=2) + "\n"


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


def _result(finding: Finding, position: int, fingerprint: str, root: Path) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.check,
        "ruleIndex": position,
        "level": LEVELS[finding.severity],
        "message": _message(finding.message if finding.tip is None else f"{finding.message}\nTip: {finding.tip}"),
        "locations": [location] if (location := _location(finding, root)) else [],
        "partialFingerprints": {"dispatchCliFinding/v1": fingerprint},
    }
    related = list(_related(finding.related, root))
    if related:
        result["relatedLocations"] = related
    details = {_text(name): _text(value) for name, value in finding.details}
    operator = None if finding.operator is None else _text(finding.operator)
    result["properties"] = {"operator": operator, "key": finding.key, "details": details}
    return result


def _location(finding: Finding, root: Path) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if finding.span is not None and finding.span.file != STANDARD_INPUT:
        location["physicalLocation"] = _physical(finding.span, root)
    if finding.operator is not None:
        key = "" if finding.key is None else f" at {finding.key}"
        location["logicalLocations"] = [{"fullyQualifiedName": _text(f"{finding.operator}{key}"), "kind": "function"}]
    return location


def _related(related: Iterable[Related], root: Path) -> Iterator[dict[str, Any]]:
    shown = [one for one in related if one.span.file != STANDARD_INPUT]
    for number, one in enumerate(shown):
        yield {"id": number, "physicalLocation": _physical(one.span, root), "message": _message(one.message)}


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
