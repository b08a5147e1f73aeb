"""SARIF, GitHub's workflow commands and JUnit XML, whole, and with names that mean harm."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import pytest
from xmlschema import XMLSchema

from dispatch_cli.answers.findings.baseline import fingerprints
from dispatch_cli.answers.findings.checked import NotChecked
from dispatch_cli.answers.findings.ci.github_document import findings_github, problems_github
from dispatch_cli.answers.findings.ci.junit_document import findings_junit, problems_junit
from dispatch_cli.answers.findings.ci.places_wording import relative_path
from dispatch_cli.answers.findings.ci.sarif_document import findings_sarif, problems_sarif
from dispatch_cli.answers.findings.report import FAIL_ON, ChosenCheck, FindingsReport, UnlistedFindings, reported
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span
from tests.fuzz.verdict import sarif_validator

ROOT = Path("/project")
SCHEMAS = Path(__file__).parent / "schemas"
EXPECTED = Path(__file__).parent / "expected"
SPAN = Span("sub/a.yaml", 3, 5)
GUARD = [check.id for check in CHECKS].index("guard")


def finding(**fields: Any) -> Finding:
    whole: dict[str, Any] = {"check": "guard", "severity": Severity.ERROR, "message": "it does not hold", "span": SPAN}
    return Finding(**{**whole, **fields})


EVERYTHING = (
    finding(
        operator="a::b",
        key="CPU",
        details=(("wanted", "50%"),),
        tip="do this",
        related=(Related("here", Span("/elsewhere/ä b.yaml", 9, 1)), Related("not shown", Span("-", 1, 1))),
    ),
    finding(operator="a::b", key="CUDA", severity=Severity.WARNING, span=None, message="[a](b) \x1b <&> ]]>"),
    finding(operator="a::c", severity=Severity.INFO, span=Span("/elsewhere/ä b.yaml", 9, 1), tip="look"),
    finding(span=Span("-", 1, 1), group_message="together"),
    *(
        finding(operator="a::d", key=key, span=Span("x,y:z%\n.yaml", 1, 1), message="a%0Ab\r::error::c")
        for key in "ABC"
    ),
    finding(check="stale-live-table", operator="a::b", key="CPU", span=Span("c:d%e?f#g.yaml", 1, 1)),
)
"""Findings with everything that a finding can have."""


def report(
    *findings: Finding, checks: tuple[Check, ...] = CHECKS, unlisted: tuple[UnlistedFindings, ...] = ()
) -> FindingsReport:
    counts = Counter(each_finding.severity for each_finding in findings)
    return FindingsReport(
        universe="torch-2.15",
        over_assumed=False,
        operators=7,
        fail_on=FAIL_ON,
        failed=bool(counts[Severity.ERROR] or counts[Severity.WARNING]),
        counts=counts,
        checks=tuple(ChosenCheck(check.id, check.code, check.title, check.severity, True, None) for check in checks),
        suppressed_count=0,
        suppressed=(),
        summary=(),
        affected={},
        unlisted=unlisted,
        baseline=None,
        not_checked=NotChecked(),
        built=None,
        conditions=None,
        open_promises=0,
        unknown_schemas=(),
        undecided=0,
        not_understood=0,
        unread_files=0,
        findings=reported(findings),
    )


def junit(*findings: Finding) -> ElementTree.Element:
    return ElementTree.fromstring("".join(findings_junit(report(*findings), ROOT)))


# places


@pytest.mark.parametrize(
    ("file", "shown"),
    [
        ("a.yaml", "a.yaml"),
        ("./sub/a.yaml", "sub/a.yaml"),
        ("sub/../a.yaml", "a.yaml"),
        ("/project/sub/a.yaml", "sub/a.yaml"),
        ("../a.yaml", "/a.yaml"),
        ("../../../a.yaml", "/a.yaml"),
        ("/elsewhere/a.yaml", "/elsewhere/a.yaml"),
        ("/projects/a.yaml", "/projects/a.yaml"),
        ("sub/..", "."),
    ],
)
def test_relative_path(file: str, shown: str) -> None:
    assert relative_path(file, ROOT) == shown
    assert PurePosixPath(shown).as_posix() == shown


# whole answers


PROBLEMS = (
    Problem("bad-value", "two\nlines [a](b) \x1b <&> ]]>", SPAN, "the line", "do this", (Related("here", SPAN),)),
    Problem("usage", "no operator matches 'x'"),
    Problem("from-stdin", "x", Span("-", 1, 1)),
)


def sarif_lines(text: str) -> str:
    """The run of a log without its tool, whose rules are the checks, and without numbers of these."""
    (run,) = json.loads(text)["runs"]
    lines = json.dumps({name: value for name, value in run.items() if name != "tool"}, indent=2)
    return re.sub(r'\n *"ruleIndex": \d+,', "", lines) + "\n"


def junit_lines(text: str) -> str:
    """The suites in which something failed, without their numbers."""
    root = ElementTree.fromstring(text)
    for suite in [suite for suite in root if suite.find("testcase/*") is None]:
        root.remove(suite)
    ElementTree.indent(root)
    return re.sub(' (?:timestamp|id)="[^"]*"', "", ElementTree.tostring(root, encoding="unicode")) + "\n"


ANSWERS: dict[str, Callable[[], str]] = {
    "findings.sarif": lambda: sarif_lines("".join(findings_sarif(report(*EVERYTHING), ROOT))),
    "findings.github": lambda: "".join(findings_github(report(*EVERYTHING), ROOT)),
    "findings.junit": lambda: junit_lines("".join(findings_junit(report(*EVERYTHING), ROOT))),
    "problems.sarif": lambda: sarif_lines("".join(problems_sarif(PROBLEMS, ROOT))),
    "problems.github": lambda: "".join(problems_github(PROBLEMS, ROOT)),
    "problems.junit": lambda: junit_lines("".join(problems_junit(PROBLEMS, ROOT))),
}
"""Answers that are recorded in ``expected``; ``python -m tests.render.test_reports_for_ci`` writes them anew."""


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_as_recorded(name: str) -> None:
    assert ANSWERS[name]() == (EXPECTED / f"{name}.txt").read_text(encoding="utf-8")


# SARIF


def test_a_log_lists_every_check_there_is() -> None:
    (run,) = json.loads("".join(findings_sarif(report(*EVERYTHING, checks=CHECKS[:1]), ROOT)))["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])
    assert [(rule["id"], rule["help"]["text"]) for rule in rules] == [
        (check.id, check.documentation.strip()) for check in CHECKS
    ]


def test_the_findings_of_a_check_at_one_place_are_one_command() -> None:
    many = "".join(
        findings_github(report(*(finding(operator=f"a::b{n}", message=f"finding {n}") for n in range(500))), ROOT)
    )
    assert many.count("::error ") == 1
    assert many.endswith("%0Afinding 9%0Aand 490 more\n")


def test_logs_are_valid_against_the_published_schema() -> None:
    validator = sarif_validator()
    texts = (findings_sarif(report(*EVERYTHING), ROOT), findings_sarif(report(), ROOT), problems_sarif(PROBLEMS, ROOT))
    for text in texts:
        log = json.loads("".join(text))
        assert [error.message for error in validator.iter_errors(log)] == []
    broken = {**log, "version": "2.0.0"}
    assert not validator.is_valid(broken), "the schema is the one that refuses"


def test_fingerprints_tell_findings_apart_and_stay_when_lines_move() -> None:
    several = (finding(key="CPU"), finding(key="CUDA"), finding(key="CPU"), finding(key="CPU", subject="x"))
    moved = [moved_finding._replace(span=Span("b.yaml", 9, 9), message="else") for moved_finding in several]
    assert len(set(fingerprints(several))) == 4
    assert fingerprints(several) == fingerprints(moved)


# JUnit


def test_reports_are_valid_against_jenkins_schema() -> None:
    schema = XMLSchema(str(SCHEMAS / "jenkins-junit.xsd"))
    for findings in (EVERYTHING, ()):
        schema.validate("".join(findings_junit(report(*findings), ROOT)))
    schema.validate("".join(problems_junit(PROBLEMS, ROOT)))
    assert not schema.is_valid("<testsuites><testsuite/></testsuites>"), "the schema is the one that refuses"


@pytest.mark.parametrize("sign", ["\0", "\x1b", "\ufffe", "\uffff", "\ud800", "\u202e", "]]>", "<&\"'>"])
def test_any_name_makes_valid_xml(sign: str) -> None:
    example = finding(operator=f"a{sign}b", message=f"c{sign}d", span=Span(f"e{sign}f", 1, 1))
    case = junit(example)[GUARD].find("testcase")
    assert case is not None
    assert case.get("name", "").startswith("a")
    assert case.get("name", "").endswith("b")
    "".join(findings_junit(report(example), ROOT)).encode("utf-8")


if __name__ == "__main__":
    for answer_name, answer in ANSWERS.items():
        (EXPECTED / f"{answer_name}.txt").write_text(answer(), encoding="utf-8")
