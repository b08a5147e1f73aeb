"""Findings of each check, whole: sentence, details, places."""

from __future__ import annotations

from dispatch_cli.checks import CHECKS
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

NAME = OperatorName.parse("demo::op")


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


def test_findings_come_by_place(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nguards:\n  - {op: 'x::*', key: CPU, rule: kernel}\noperators:\n"
        "  - {name: 'b::b', dispatch: {CPU: b}}\n  - {name: 'a::a', dispatch: {CPU: a}}\n"
    )
    assert [
        (finding.check, finding.span.line)
        for finding in findings(state_of(text), select="DC101,DC9")
        if finding.span is not None
    ] == [
        ("unmatched-guard", 3),
        ("dangling-implementation", 5),
        ("dangling-implementation", 6),
    ]


def test_codes_are_unique_and_in_order() -> None:
    codes = [check.code for check in CHECKS]
    assert codes == sorted(set(codes))
    assert all(
        len(code) == 5 and code[2:].isdecimal() and check.group for code, check in zip(codes, CHECKS, strict=True)
    )
