"""Findings as JUnit XML, the format that CI systems list test results from.

A suite per check. A check that finds nothing is one passed case. Otherwise each operator with findings is a failed
case, whose text is what was found; findings about no operator are a case of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.render.locations import STANDARD_INPUT, relative_path
from dispatch_cli.render.text_safety import safe
from dispatch_cli.report.findings import FindingsReport

_NOT_XML = re.compile("[\ufffe\uffff]")
"""What XML cannot hold even as a reference, of what `safe` leaves."""


def findings_junit(report: FindingsReport, root: Path) -> Iterator[str]:
    """The whole document; cases in the order of the findings."""
    suites = [(check, _cases(report, check)) for check in report.checks]
    tests = sum(max(1, len(cases)) for _, cases in suites)
    failures = sum(len(cases) for _, cases in suites)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="dispatch-cli" tests="{tests}" failures="{failures}" errors="0">\n'
    for check, cases in suites:
        yield from _suite(report, check, cases, root)
    yield "</testsuites>\n"


def _cases(report: FindingsReport, check: Check) -> list[tuple[str, list[Finding]]]:
    """The name of each failed case of a check, and its findings."""
    cases: dict[tuple[str, bool], list[Finding]] = {}
    for finding in report.findings:
        if finding.check == check.id:
            name = finding.operator if finding.operator is not None else finding.message
            cases.setdefault((name, finding.operator is not None), []).append(finding)
    return [(name, findings) for (name, _), findings in cases.items()]


def _suite(
    report: FindingsReport, check: Check, cases: Sequence[tuple[str, Sequence[Finding]]], root: Path
) -> Iterator[str]:
    name = _attribute(f"dispatch-cli.{check.id}")
    yield f'  <testsuite name={name} tests="{max(1, len(cases))}" failures="{len(cases)}" errors="0" skipped="0">\n'
    yield "    <properties>\n"
    yield f'      <property name="universe" value={_attribute(report.universe)}/>\n'
    yield f'      <property name="operators" value="{report.operators}"/>\n'
    yield "    </properties>\n"
    if not cases:
        yield f"    <testcase classname={name} name={_attribute(check.title)}/>\n"
    for title, findings in cases:
        yield from _case(name, title, findings, root)
    yield "  </testsuite>\n"


def _case(classname: str, title: str, findings: Sequence[Finding], root: Path) -> Iterator[str]:
    first = findings[0]
    place = ""
    if first.span is not None and first.span.file != STANDARD_INPUT:
        place = f' file={_attribute(relative_path(first.span.file, root))} line="{first.span.line}"'
    yield f"    <testcase classname={classname} name={_attribute(title)}{place}>\n"
    message = first.message if len(findings) == 1 else f"{len(findings)} findings; the first: {first.message}"
    text = "\n".join(line for finding in findings for line in _lines(finding))
    yield f"      <failure type={_attribute(first.check)} message={_attribute(message)}>{text}</failure>\n"
    yield "    </testcase>\n"


def _lines(finding: Finding) -> Iterator[str]:
    place = "" if finding.span is None else f"{finding.span}: "
    yield _text(f"{place}{finding.severity.value}: {finding.message}")
    for related in finding.related:
        yield _text(f"  note: {related.message} ({related.span})")


def _text(text: str) -> str:
    return escape(_valid(text))


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _valid(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", safe(text))
