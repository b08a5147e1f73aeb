"""SARIF, GitHub's workflow commands and JUnit XML, whole, and with names that mean harm."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree import ElementTree

import pytest
from xmlschema import XMLSchema

from dispatch_cli import __version__
from dispatch_cli.answers.findings.baseline.report import fingerprints
from dispatch_cli.answers.findings.checked import NotChecked
from dispatch_cli.answers.findings.ci.github_document import findings_github, problems_github
from dispatch_cli.answers.findings.ci.junit_document import findings_junit, problems_junit
from dispatch_cli.answers.findings.ci.locations_wording import relative_path
from dispatch_cli.answers.findings.ci.sarif_document import findings_sarif, problems_sarif
from dispatch_cli.answers.findings.report import FAIL_ON, ChosenCheck, FindingsReport, UnlistedFindings, reported
from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Check, Finding, Severity
from dispatch_cli.model.problem import Problem, Related
from dispatch_cli.model.span import Span
from tests.fuzz.verdict import sarif_validator

ROOT = Path("/project")
SCHEMAS = Path(__file__).parent / "schemas"
SPAN = Span("sub/a.yaml", 3, 5)
GUARD = [check.id for check in CHECKS].index("guard")


def finding(**fields: Any) -> Finding:
    whole: dict[str, Any] = {"check": "guard", "severity": Severity.ERROR, "message": "it does not hold", "span": SPAN}
    return Finding(**{**whole, **fields})


EVERYTHING = (
    finding(operator="a::b", key="CPU", details=(("wanted", "x"),), tip="do this", related=(Related("here", SPAN),)),
    finding(operator="a::b", key="CUDA", severity=Severity.WARNING, span=None, message="[a](b) \x1b <&> ]]>"),
    finding(operator="a::c", severity=Severity.INFO, span=Span("/elsewhere/ä b.yaml", 9, 1)),
    finding(span=Span("-", 1, 1), group_message="together"),
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
        unknown_schemas=(),
        undecided=0,
        not_understood=0,
        findings=reported(findings),
    )


def sarif(*findings: Finding) -> Any:
    (run,) = json.loads("".join(findings_sarif(report(*findings), ROOT)))["runs"]
    return run


def github(*findings: Finding) -> str:
    return "".join(findings_github(report(*findings), ROOT))


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


# SARIF


def test_a_log_lists_every_check_there_is() -> None:
    log = json.loads("".join(findings_sarif(report(checks=CHECKS[:1]), ROOT)))
    (run,) = log["runs"]
    assert log == {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    rules = run["tool"]["driver"].pop("rules")
    assert run == {
        "tool": {"driver": {"name": "dispatch-cli", "version": __version__}},
        "invocations": [{"executionSuccessful": True}],
        "columnKind": "unicodeCodePoints",
        "results": [],
        "properties": {"universe": "torch-2.15", "operators": 7},
    }
    for rule, check in zip(rules, CHECKS, strict=True):
        documentation = check.documentation.strip()
        assert rule == {
            "id": check.id,
            "name": check.id.title().replace("-", ""),
            "shortDescription": {"text": check.title},
            "fullDescription": {"text": documentation.split("\n\n")[1]},
            "help": {"text": documentation, "markdown": documentation},
            "defaultConfiguration": {
                "level": {"error": "error", "warning": "warning", "info": "note"}[check.severity.value],
                "enabled": check.default,
            },
            "properties": {"code": check.code, "tags": rule["properties"]["tags"]},
        }


def test_a_result() -> None:
    example = finding(
        severity=Severity.INFO,
        operator="a::b",
        key="CPU",
        details=(("wanted", "x"),),
        tip="do this",
        related=(Related("here", Span("/elsewhere/ä b.yaml", 9, 1)), Related("not shown", Span("-", 1, 1))),
    )
    (result,) = sarif(example)["results"]
    assert result == {
        "ruleId": "guard",
        "ruleIndex": GUARD,
        "level": "note",
        "message": {"text": "it does not hold\nTip: do this"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": "sub/a.yaml", "uriBaseId": "%SRCROOT%"},
                    "region": {"startLine": 3, "startColumn": 5},
                },
                "logicalLocations": [{"fullyQualifiedName": "a::b at CPU", "kind": "function"}],
            }
        ],
        "partialFingerprints": {"dispatchCliFinding/v1": fingerprints([example])[0]},
        "relatedLocations": [
            {
                "id": 0,
                "physicalLocation": {
                    "artifactLocation": {"uri": "file:///elsewhere/%C3%A4%20b.yaml"},
                    "region": {"startLine": 9, "startColumn": 1},
                },
                "message": {"text": "here"},
            }
        ],
        "properties": {"operator": "a::b", "key": "CPU", "details": {"wanted": "x"}},
    }


def test_the_findings_of_a_check_at_one_place_are_one_result() -> None:
    """As CodeQL's are; see ``--no-group-results`` of ``codeql database interpret-results``."""
    here, there = Related("here", SPAN), Related("there", Span("b.yaml", 1, 1))
    several = [
        finding(operator="a::b", key="CPU", message="first", severity=Severity.INFO, tip="x", related=(here,)),
        finding(operator="a::c", key="CPU", message="second", tip="x", related=(here, there), details=(("is", "y"),)),
        finding(operator="a::c", message="elsewhere", span=Span("b.yaml", 1, 1)),
    ]
    first, second = sarif(*several)["results"]
    assert first["message"] == {"text": "first\n1 more here:\nsecond\nTip: x"}
    assert first["level"] == "error"
    (location,) = first["locations"]
    assert [entry["fullyQualifiedName"] for entry in location["logicalLocations"]] == ["a::b at CPU", "a::c at CPU"]
    assert [location["message"]["text"] for location in first["relatedLocations"]] == ["here", "there"]
    assert first["properties"] == {
        "findings": [
            {"operator": "a::b", "key": "CPU", "details": {}, "message": "first"},
            {"operator": "a::c", "key": "CPU", "details": {"is": "y"}, "message": "second"},
        ]
    }
    assert first["partialFingerprints"] == {"dispatchCliFinding/v1": fingerprints(several)[0]}
    assert second["message"] == {"text": "elsewhere"}


def test_a_run_that_finds_the_input_bad() -> None:
    problems = (
        Problem("bad-value", "[a](b) \x1b <&> ]]>", SPAN, "the line", "do this", (Related("here", SPAN),)),
        Problem("usage", "no operator matches 'x'"),
        Problem("from-stdin", "x", Span("-", 1, 1)),
    )
    log = json.loads("".join(problems_sarif(problems, ROOT)))
    validator = sarif_validator()
    assert [error.message for error in validator.iter_errors(log)] == []
    (run,) = log["runs"]
    (invocation,) = run["invocations"]
    notes = invocation.pop("toolExecutionNotifications")
    assert invocation == {
        "executionSuccessful": False,
        "exitCode": 2,
        "exitCodeDescription": "3 errors in the input; nothing was checked",
    }
    assert [(note["descriptor"]["id"], note["level"], "locations" in note) for note in notes] == [
        ("bad-value", "error", True),
        ("usage", "error", False),
        ("from-stdin", "error", False),
    ]
    (result,) = run["results"]
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"] == "bad-input"
    assert result["message"] == {"text": "[a]\\(b) \\x1b <&> ]]>\nTip: do this"}
    assert result["locations"] == notes[0]["locations"]
    moved = json.loads("".join(problems_sarif((problems[0]._replace(span=Span("sub/a.yaml", 9, 1)),), ROOT)))
    assert moved["runs"][0]["results"][0]["partialFingerprints"] == result["partialFingerprints"]


def test_logs_are_valid_against_the_published_schema() -> None:
    validator = sarif_validator()
    for name in ("everything", "nothing"):
        log = json.loads("".join(findings_sarif(report(*(EVERYTHING if name == "everything" else ())), ROOT)))
        assert [error.message for error in validator.iter_errors(log)] == []
    broken = {**log, "version": "2.0.0"}
    assert not validator.is_valid(broken), "the schema is the one that refuses"


def test_fingerprints_tell_findings_apart_and_stay_when_lines_move() -> None:
    several = (finding(key="CPU"), finding(key="CUDA"), finding(key="CPU"), finding(key="CPU", subject="x"))
    moved = [moved_finding._replace(span=Span("b.yaml", 9, 9), message="else") for moved_finding in several]
    assert len(set(fingerprints(several))) == 4
    assert fingerprints(several) == fingerprints(moved)


# GitHub


def test_a_command() -> None:
    example = finding(details=(("wanted", "50%"),), related=(Related("registered here", Span("b.yaml", 1, 2)),))
    assert github(example) == (
        "::error file=sub/a.yaml,line=3,col=5,title=guard::it does not hold%0Awanted: 50%25%0A"
        "note: registered here (b.yaml:1:2)\n"
    )


def test_what_a_command_escapes() -> None:
    example = finding(message="a%0Ab\r::error::c\x1b", span=Span("x,y:z%\n.yaml", 1, 1))
    assert github(example) == (
        "::error file=x%2Cy%3Az%25\\n.yaml,line=1,col=1,title=guard::a%250Ab\\r::error::c\\x1b\n"
    )


def test_the_findings_of_a_check_at_one_place_are_one_command() -> None:
    several = [
        finding(operator="a::b", message="first", severity=Severity.WARNING, tip="x"),
        *(finding(operator="a::c", key=key, group_message="second") for key in ("CPU", "CUDA")),
        finding(operator="a::d", check="stale-live-table", message="another check's"),
    ]
    assert github(*several) == (
        "::error file=sub/a.yaml,line=3,col=5,title=guard::first%0A1 more here:%0Asecond%0Aat CPU, CUDA\n"
        "::error file=sub/a.yaml,line=3,col=5,title=stale-live-table::another check's\n"
    )
    many = github(*(finding(operator=f"a::b{number}", message=f"finding {number}") for number in range(500)))
    assert many.count("::error ") == 1
    assert many.endswith("%0Afinding 9%0Aand 490 more\n")


def test_problems_are_commands_too() -> None:
    problem = Problem("bad-value", "two\nlines", SPAN, "the line", "do this", (Related("here", SPAN),))
    assert "".join(problems_github([problem, Problem("no-place", "x")], ROOT)) == (
        "::error file=sub/a.yaml,line=3,col=5,title=bad-value::two%0Alines%0Anote: here (sub/a.yaml:3:5)%0A"
        "help: do this\n"
        "::error title=no-place::x\n"
    )


# JUnit


def test_problems_of_the_input_are_cases_in_error() -> None:
    problems = (
        Problem("bad-value", "two\nlines <&>", SPAN, "x", "do this", (Related("here", SPAN),)),
        Problem("usage", "x"),
    )
    text = "".join(problems_junit(problems, ROOT))
    XMLSchema(str(SCHEMAS / "jenkins-junit.xsd")).validate(text)
    (suite,) = ElementTree.fromstring(text)
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("2", "0", "2")
    assert [case.get("name") for case in suite.iter("testcase")] == ["bad-value 1", "usage 2"]
    first, second = suite.iter("error")
    assert (first.get("type"), first.get("message")) == ("bad-value", "two")
    assert first.text == ("sub/a.yaml:3:5: error: two\n  lines <&>\n  note: here (sub/a.yaml:3:5)\n  tip: do this")
    assert second.text == "error: x"


def test_a_failed_case_per_operator() -> None:
    root = junit(
        finding(operator="a::b", key="CPU", message="first", related=(Related("here", SPAN),)),
        finding(operator="a::b", key="CUDA", message="second"),
        finding(operator="a::c", key="CPU", message="third", span=None),
        finding(message="about no operator"),
    )
    assert sum(int(suite.get("tests", "")) for suite in root) == len(CHECKS) + 2
    suite = root[GUARD]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "3")
    cases = suite.findall("testcase")
    assert [case.attrib for case in cases] == [
        {"classname": "dispatch-cli.guard", "name": "a::b", "time": "0"},
        {"classname": "dispatch-cli.guard", "name": "a::c", "time": "0"},
        {"classname": "dispatch-cli.guard", "name": "about no operator", "time": "0"},
    ]
    failures = [failure for case in cases for failure in case]
    assert [(failure.get("type"), failure.get("message")) for failure in failures] == [
        ("guard", "2 findings; the first: first"),
        ("guard", "third"),
        ("guard", "about no operator"),
    ]
    assert failures[0].text == (
        "sub/a.yaml:3:5: error: first\n  note: here (sub/a.yaml:3:5)\nsub/a.yaml:3:5: error: second"
    )
    assert failures[1].text == "error: third"


def test_findings_that_fail_no_run_fail_no_case() -> None:
    mild = finding(operator="a::b", severity=Severity.INFO, message="mild", tip="do this")
    suite = junit(mild)[GUARD]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "0")
    assert suite.findtext("system-out") == "sub/a.yaml:3:5: info: mild\n  tip: do this"
    suite = junit(mild, mild._replace(severity=Severity.WARNING, message="worse"))[GUARD]
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")
    assert suite.findtext("testcase/failure") == "sub/a.yaml:3:5: warning: worse\n  tip: do this"


def test_reports_are_valid_against_jenkins_schema() -> None:
    schema = XMLSchema(str(SCHEMAS / "jenkins-junit.xsd"))
    for findings in (EVERYTHING, ()):
        schema.validate("".join(findings_junit(report(*findings), ROOT)))
    assert not schema.is_valid("<testsuites><testsuite/></testsuites>"), "the schema is the one that refuses"


@pytest.mark.parametrize("sign", ["\0", "\x1b", "\ufffe", "\uffff", "\ud800", "\u202e", "]]>", "<&\"'>"])
def test_any_name_makes_valid_xml(sign: str) -> None:
    example = finding(operator=f"a{sign}b", message=f"c{sign}d", span=Span(f"e{sign}f", 1, 1))
    case = junit(example)[GUARD].find("testcase")
    assert case is not None
    assert case.get("name", "").startswith("a")
    assert case.get("name", "").endswith("b")
    "".join(findings_junit(report(example), ROOT)).encode("utf-8")
