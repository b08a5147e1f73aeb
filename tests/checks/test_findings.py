"""Findings of each check, whole: sentence, details, places."""

from __future__ import annotations

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

NAME = OperatorName.parse("demo::op")


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


def test_stale_live_table(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch:\n"
        "      CompositeImplicitAutograd: op_math\n      QuantizedCPU: op_quantized\n"
    )
    assert findings(state_of(text), select="stale") == (
        Finding(
            check="stale-live-table",
            severity=Severity.INFO,
            message=(
                "demo::op: the slot AutogradOther holds op_math [math kernel], but should hold "
                "ambiguous_autogradother [ambiguous autogradother]: registering the kernel op_quantized at "
                "QuantizedCPU did not recompute it"
            ),
            operator="demo::op",
            key="AutogradOther",
            details=(
                ("live", "op_math [math kernel]"),
                ("canonical", "ambiguous_autogradother [ambiguous autogradother]"),
                ("made stale by", "op_quantized at QuantizedCPU"),
            ),
            span=place(6, 7),
            related=(Related("the live kernel is registered here", place(5, 34)),),
            group_message=(
                "demo::op: registering the kernel op_quantized at QuantizedCPU did not recompute every slot that it "
                "changes; the stale slots keep what they held before"
            ),
            tip="register a kernel at the stale slot's own key, or change the order of the registrations",
            fix=(own_kernel(OperatorName("demo::op"), "AutogradOther"),),
            mark="QuantizedCPU",
        ),
    )


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
