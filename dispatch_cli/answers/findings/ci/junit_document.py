"""Findings as JUnit XML, the format that CI systems list test results from.

A suite per check that ran. A check that finds nothing is one passed case. Otherwise each operator with findings is a
case, whose text is what was found; findings about no operator are a case of their own. A case fails when one of its
findings is bad enough to fail the run; findings that are not are the suite's output.

Valid against the schema of Apache Ant's tasks and those of Jenkins, of which each demands or forbids something that
another does not: so suites are numbered and dated, and nothing has an attribute for its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from dispatch_cli.answers.findings.ci.places_wording import place_text, text_lines, worst
from dispatch_cli.answers.findings.report import ChosenCheck, FindingsReport, grouped
from dispatch_cli.answers.findings.summary_document import unlisted_sentence
from dispatch_cli.checks.check import Finding
from dispatch_cli.model.problem import Problem
from dispatch_cli.render.printed import safe

_NOT_XML = re.compile("[\ufffe\uffff]")
"""Characters that XML cannot hold even as a reference, of those that `safe` leaves."""


class _Case(NamedTuple):
    """A test case: its name, and the findings that make it fail and those that do not."""

    name: str
    failures: tuple[Finding, ...]
    others: tuple[Finding, ...]


def problems_junit(problems: Sequence[Problem], root: Path) -> Iterator[str]:
    """A suite of the input, with a case in error for each problem."""
    name, count = _attribute("dispatch-cli.input"), len(problems)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    yield (
        f'  <testsuite name={name} package="dispatch-cli" id="0" timestamp="{_date()}" hostname="localhost" '
        f'tests="{count}" failures="0" errors="{count}" time="0">\n'
    )
    yield '    <properties>\n      <property name="exit code" value="2"/>\n    </properties>\n'
    for number, problem in enumerate(problems, start=1):
        place = "" if problem.span is None else f"{place_text(problem.span, root)}: "
        first, *more = problem.message.split("\n")
        lines = [f"{place}error: {first}", *(f"  {line}" for line in more)]
        lines += [f"  note: {note.message} ({place_text(note.span, root)})" for note in problem.related]
        lines += [f"  tip: {problem.hint}"] if problem.hint else []
        yield f'    <testcase classname={name} name={_attribute(f"{problem.code} {number}")} time="0">\n'
        yield f"      <error type={_attribute(problem.code)} message={_attribute(first)}>"
        text = "\n".join(map(_text, lines))
        yield f"{text}</error>\n    </testcase>\n"
    yield "    <system-out></system-out>\n    <system-err></system-err>\n  </testsuite>\n</testsuites>\n"


def findings_junit(report: FindingsReport, root: Path) -> Iterator[str]:
    """The whole document; cases in the order of the findings. It is dated by SOURCE_DATE_EPOCH where that is set."""
    date = _date()
    cases = _cases(report)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n'
    for number, check in enumerate(report.checks):
        yield from _suite(report, check, number, date, cases.get(check.id, ()), root)
    yield "</testsuites>\n"


def _date() -> str:
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = int(epoch) if epoch.isdecimal() and len(epoch) < 12 else None
    now = datetime.now(timezone.utc) if seconds is None else datetime.fromtimestamp(seconds, timezone.utc)
    return now.strftime("%Y-%m-%dT%H:%M:%S")


def _cases(report: FindingsReport) -> dict[str, list[_Case]]:
    """The cases of each check that found something."""
    by_check: dict[str, dict[tuple[str, bool], list[Finding]]] = {}
    for finding in (entry.finding for entry in report.findings):
        name = finding.operator if finding.operator is not None else finding.message
        cases = by_check.setdefault(finding.check, {})
        cases.setdefault((name, finding.operator is not None), []).append(finding)
    return {
        check: [
            _Case(
                name,
                tuple(finding for finding in findings if report.fails(finding)),
                tuple(finding for finding in findings if not report.fails(finding)),
            )
            for (name, _), findings in cases.items()
        ]
        for check, cases in by_check.items()
    }


def _suite(
    report: FindingsReport, check: ChosenCheck, number: int, date: str, cases: Sequence[_Case], root: Path
) -> Iterator[str]:
    name = _attribute(f"dispatch-cli.{check.id}")
    failed = sum(bool(case.failures) for case in cases)
    yield (
        f'  <testsuite name={name} package="dispatch-cli" id="{number}" timestamp="{date}" hostname="localhost" '
        f'tests="{max(1, len(cases))}" failures="{failed}" errors="0" time="0">\n'
    )
    universe = _attribute(report.universe)
    yield f'    <properties>\n      <property name="universe" value={universe}/>\n    </properties>\n'
    if not cases:
        yield f'    <testcase classname={name} name={_attribute(check.title)} time="0"/>\n'
    for case in cases:
        yield from _case(name, check.id, case, root)
    lines = [line for case in cases for finding in case.others for line in _lines([finding], root)]
    unlisted = (_text(unlisted_sentence(rest)) for rest in report.unlisted if rest.check == check.id)
    others = "\n".join((*lines, *unlisted))
    yield f"    <system-out>{others}</system-out>\n    <system-err></system-err>\n  </testsuite>\n"


def _case(classname: str, check: str, case: _Case, root: Path) -> Iterator[str]:
    head = f'    <testcase classname={classname} name={_attribute(case.name)} time="0"'
    if not case.failures:
        yield f"{head}/>\n"
        return
    count, first = len(case.failures), case.failures[0]
    message = first.message if count == 1 else f"{count} findings; the first: {first.message}"
    text = "\n".join(line for group in grouped(case.failures) for line in _lines(group, root))
    yield f"{head}>\n"
    yield f"      <failure type={_attribute(check)} message={_attribute(message)}>{text}</failure>\n"
    yield "    </testcase>\n"


def _lines(group: Sequence[Finding], root: Path) -> Iterator[str]:
    """A finding, or several with the same sentence and place."""
    place = "" if group[0].span is None else f"{place_text(group[0].span, root)}: "
    first, *more = text_lines(group, lambda span: place_text(span, root))
    yield _text(f"{place}{worst(group).value}: {first}")
    yield from (_text(f"  {line}") for line in more)


def _text(text: str) -> str:
    return escape(_valid(text))


def _attribute(text: str) -> str:
    return quoteattr(_valid(text))


def _valid(text: str) -> str:
    return _NOT_XML.sub(lambda match: f"\\u{ord(match[0]):04x}", safe(text))
