"""Findings for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.render.data import data_of as edit_data
from dispatch_cli.render.machine import Sheet, json_document, place_text, related_data, span_data
from dispatch_cli.report.baseline import fingerprints
from dispatch_cli.report.findings import SCHEMA_VERSION, FindingsReport


def findings_json(report: FindingsReport) -> Iterator[str]:
    """Every finding; every check that ran; what is suppressed, and what a baseline did."""
    idle = {check.id: need.name.lower() for check, need in report.idle}
    codes = {check.id: check.code for check in report.known}
    head: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "report": "findings",
        "universe": report.universe,
        "operators": report.operators,
        "fail_on": report.fail_on.value,
        "failed": report.failing,
        "counts": dict(_severities(report)),
        "checks": [_check_data(check, idle) for check in report.checks],
        "suppressed": [
            {"reason": one.by.reason, "by": span_data(one.by.span), **_finding_data(one.finding, codes)}
            for one in report.suppressed
        ],
        "baseline": None
        if report.baseline is None
        else {
            "known": report.baseline.known,
            "fixed": [{**entry._asdict(), "count": count} for entry, count in report.baseline.fixed],
        },
        "not_checked": report.not_checked._asdict(),
    }
    prints = fingerprints(report.findings)
    items = (
        {**_finding_data(one, codes), "fingerprint": mark} for one, mark in zip(report.findings, prints, strict=True)
    )
    return json_document(head, "findings", items)


def _severities(report: FindingsReport) -> Iterator[tuple[str, int]]:
    counts = Counter(finding.severity for finding in report.findings)
    return ((severity.value, counts[severity]) for severity in type(report.fail_on))


def _check_data(check: Check, idle: dict[str, str]) -> dict[str, Any]:
    data: dict[str, Any] = {"id": check.id, "code": check.code, "title": check.title, "severity": check.severity.value}
    return {**data, "ran": check.id not in idle, "needs": idle.get(check.id)}


def _finding_data(finding: Finding, codes: dict[str, str]) -> dict[str, Any]:
    return {
        "check": finding.check,
        "code": codes[finding.check],
        "severity": finding.severity.value,
        "message": finding.message,
        "operator": finding.operator,
        "key": finding.key,
        "details": dict(finding.details),
        "tip": finding.tip,
        "fix": [edit_data(edit) for edit in finding.fix],
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


def summary_sheet(report: FindingsReport) -> Sheet:
    """One row for each check that found something."""
    counts = Counter(finding.check for finding in report.findings)
    operators = {check: len({one.operator for one in report.findings if one.check == check}) for check in counts}
    rows = (
        (check.code, check.id, check.severity.value, str(counts[check.id]), str(operators[check.id]), check.title)
        for check in report.known
        if counts[check.id]
    )
    return Sheet(("code", "check", "severity", "findings", "operators", "what does not hold"), rows)
