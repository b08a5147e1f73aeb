"""The checks and their documentation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from dispatch_cli.checks.check import Check, Group
from dispatch_cli.render.machine import Sheet, json_document
from dispatch_cli.report.rules import SCHEMA_VERSION, RulesReport

GROUPS = {
    Group.INVARIANTS: "PyTorch's own invariants",
    Group.REGISTRATIONS: "Registrations",
    Group.AUTOGRAD: "Autograd",
    Group.CALLS: "What calls reach",
    Group.AGREEMENT: "What has to agree",
    Group.OWNERSHIP: "What belongs to PyTorch",
    Group.INTENTIONS: "What the declarations say must hold",
}


def groups(checks: tuple[Check, ...]) -> Iterator[tuple[Group, list[Check]]]:
    """The checks by group, in the order of their codes."""
    return ((group, list(some)) for group, some in groupby(checks, key=lambda check: check.group))


def rules_json(report: RulesReport) -> Iterator[str]:
    """Every check; its documentation with it."""
    return json_document({"schema_version": SCHEMA_VERSION, "report": "rules"}, "rules", map(_data, report.checks))


def _data(check: Check) -> dict[str, Any]:
    return {
        "id": check.id,
        "code": check.code,
        "group": GROUPS[check.group],
        "title": check.title,
        "severity": check.severity.value,
        "default": check.default,
        "needs": [need.value for need in check.needs],
        "documentation": check.documentation.strip(),
    }


def rules_sheet(report: RulesReport) -> Sheet:
    """One row per check."""
    rows = (
        (check.code, check.id, check.severity.value, "yes" if check.default else "no", check.title)
        for check in report.checks
    )
    return Sheet(("code", "check", "severity", "default", "what it holds up"), rows)


def rules_markdown(report: RulesReport) -> Iterator[str]:
    """The documentation of each check, below a heading; the documentation is Markdown."""
    for position, check in enumerate(report.checks):
        yield "\n" if position else ""
        yield f"## {check.id} ({check.code})\n\n{facts(check)}\n\n{check.documentation.strip()}\n"


def facts(check: Check) -> str:
    """Severity, whether it runs by default, and what it needs, as a sentence."""
    runs = "" if check.default else "; not run by default"
    needs = f"; needs {' and '.join(need.value for need in check.needs)}" if check.needs else ""
    return f"Severity {check.severity.value}{runs}{needs}."
