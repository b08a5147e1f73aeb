"""Findings for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.checks.check import Finding
from dispatch_cli.render.machine import Sheet, json_document, place_text, related_data, span_data
from dispatch_cli.report.findings import SCHEMA_VERSION, FindingsReport


def findings_json(report: FindingsReport) -> Iterator[str]:
    """Every finding, and every check that ran."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "findings",
        "universe": report.universe,
        "operators": report.operators,
        "checks": [{"id": check.id, "title": check.title} for check in report.checks],
    }
    return json_document(head, "findings", (_finding_data(finding) for finding in report.findings))


def _finding_data(finding: Finding) -> dict[str, Any]:
    return {
        "check": finding.check,
        "severity": finding.severity.value,
        "message": finding.message,
        "operator": finding.operator,
        "key": finding.key,
        "details": dict(finding.details),
        "place": span_data(finding.span),
        "related": related_data(finding.related),
    }


def findings_sheet(report: FindingsReport) -> Sheet:
    """One row per finding."""
    columns = ("check", "severity", "operator", "key", "message", "place")
    rows = (
        (one.check, one.severity.value, one.operator or "", one.key or "", one.message, place_text(one.span))
        for one in report.findings
    )
    return Sheet(columns, rows)
