"""What each check says, whole: sentence, details, places."""

from __future__ import annotations

import pytest

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.engine.registration import Definition
from dispatch_cli.engine.state import State
from dispatch_cli.model.function_schema import parse_schema
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

NAME = OperatorName.parse("demo::op")
HEALTHY = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch:
      CPU: op_cpu
      CompositeExplicitAutograd: op_default
guards:
  - {op: "demo::*", key: CPU, kernel: op_cpu}
"""


def place(line: int, column: int) -> Span:
    return Span("x.yaml", line, column)


@pytest.fixture
def healthy(state_of: StateOf) -> State:
    state = state_of(HEALTHY)
    assert findings(state) == ()
    return state


# what no declaration can break


def test_schema_name(healthy: State) -> None:
    operator = healthy.dispatcher.operator(NAME)
    operator.definition = Definition(NAME, parse_schema("demo::other(Tensor x) -> Tensor"), "", span=place(3, 11))
    (finding,) = findings(healthy)
    assert finding == Finding(
        check="schema-name",
        severity=Severity.ERROR,
        message="demo::op has the schema of demo::other",
        operator="demo::op",
        span=place(3, 11),
    )


def test_undefined_registration(healthy: State) -> None:
    operator = healthy.dispatcher.operator(NAME)
    operator.kernels["Undefined"] = list(operator.kernels["CPU"])
    (finding,) = findings(healthy)
    assert finding == Finding(
        check="undefined-registration",
        severity=Severity.ERROR,
        message="demo::op has 1 kernel at Undefined, where none can be",
        operator="demo::op",
        key="Undefined",
        span=place(5, 12),
    )


def test_empty_kernel_list(healthy: State) -> None:
    healthy.dispatcher.operator(NAME).kernels["CUDA"] = []
    (finding,) = findings(healthy)
    assert finding == Finding(
        check="empty-kernel-list",
        severity=Severity.ERROR,
        message="demo::op has an empty list of kernels at CUDA",
        operator="demo::op",
        key="CUDA",
    )


# what declarations can break


def test_dangling_implementation(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::multiply(Tensor x) -> Tensor\n"
        "  - {name: 'demo::multipli', dispatch: {CompositeExplicitAutograd: a, CPU: b}}\n"
        "  - {name: 'other::zzz', dispatch: {CUDA: c}}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message=(
                "demo::multipli has kernels at CPU, CompositeExplicitAutograd, but nothing defines it; "
                "did you mean demo::multiply?"
            ),
            operator="demo::multipli",
            details=(("keys", "CPU, CompositeExplicitAutograd"),),
            span=place(4, 68),
            tip="define the operator, correct its name, or load the declarations that define it before",
        ),
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message="other::zzz has kernels at CUDA, but nothing defines it",
            operator="other::zzz",
            details=(("keys", "CUDA"),),
            span=place(5, 43),
            tip="define the operator, correct its name, or load the declarations that define it before",
        ),
    )


def test_stale_live_table(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch:\n"
        "      CompositeImplicitAutograd: op_math\n      QuantizedCPU: op_quantized\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check="stale-live-table",
            severity=Severity.ERROR,
            message=(
                "demo::op: a call at AutogradOther runs op_math [math kernel], but its registrations determine "
                "ambiguous_autogradother [ambiguous autogradother]; registering the kernel op_quantized at "
                "QuantizedCPU did not recompute AutogradOther"
            ),
            operator="demo::op",
            key="AutogradOther",
            details=(
                ("live", "op_math [math kernel]"),
                ("canonical", "ambiguous_autogradother [ambiguous autogradother]"),
                ("made stale by", "op_quantized at QuantizedCPU"),
            ),
            span=place(6, 21),
            related=(Related("the live kernel is registered here", place(5, 34)),),
            group=(
                "demo::op: registering the kernel op_quantized at QuantizedCPU did not recompute every slot that it "
                "changes; calls there run what was live before"
            ),
            tip="register in an order that leaves nothing behind or, better, so that the order does not matter",
            mark="QuantizedCPU",
        ),
    )


GUARDED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_cpu, CompositeImplicitAutograd: op_math}
guards:
"""


@pytest.mark.parametrize(
    ("guard", "wanted", "key", "found", "kernel"),
    [
        ("key: AutogradCPU, rule: math", "rule math", "AutogradCPU", "", None),
        ("key: CPU, not: kernel", "anything but rule kernel", "CPU", "op_cpu by rule kernel", (4, 21)),
        ("key: CUDA, kernel: other", "kernel other", "CUDA", "op_math by rule math", (4, 56)),
        ("key: Fake, kernel: '*'", "kernel *", "Fake", "nothing (missing)", None),
        ("key: Fake, not: missing", "anything but rule missing", "Fake", "nothing (missing)", None),
    ],
)
def test_a_broken_guard(
    guard: str, wanted: str, key: str, found: str, kernel: tuple[int, int] | None, state_of: StateOf
) -> None:
    (finding,) = findings(state_of(f"{GUARDED}  - {{op: 'demo::*', {guard}}}\n"))
    found = found or (
        "registered at /__w/pytorch/pytorch/aten/src/ATen/core/VariableFallbackKernel.cpp:66 by rule fallback, "
        "because of the kernel at CPU"
    )
    related = (Related("the kernel in the slot is registered here", place(*kernel)),) if kernel else ()
    assert finding == Finding(
        check="guard",
        severity=Severity.ERROR,
        message=f"demo::op: the guard wants {wanted} at {key}, which holds {found}",
        operator="demo::op",
        key=key,
        details=(("wanted", wanted), ("found", found)),
        span=place(6, 5),
        related=related,
    )


@pytest.mark.parametrize("guard", ["op: 'none::*', key: CPU", "op: 'demo::*', key: 'None*'"])
def test_a_guard_that_matches_nothing(guard: str, state_of: StateOf) -> None:
    (finding,) = findings(state_of(f"{GUARDED}  - {{{guard}, rule: kernel}}\n"))
    op, key = ("none::*", "CPU") if "none" in guard else ("demo::*", "None*")
    assert finding == Finding(
        check="guard",
        severity=Severity.ERROR,
        message=f"the guard matches nothing: no operator {op} has a slot {key}",
        span=place(6, 5),
    )


def test_guards_about_other_operators_than_those_asked_for(state_of: StateOf) -> None:
    text = GUARDED.replace("guards:\n", "  - func: demo::fine(Tensor x) -> Tensor\nguards:\n")
    state = state_of(f"{text}  - {{op: 'demo::op', key: CPU, rule: math}}\n")
    assert findings(state, "demo::fine") == ()
    assert len(findings(state, "demo::op")) == 1


def test_a_guard_names_its_kernels_by_a_glob(state_of: StateOf) -> None:
    holds = "  - {op: 'demo::op', key: '*CPU', kernel: 'op_*'}\n".replace("*CPU", "CPU")
    assert findings(state_of(f"{GUARDED}{holds}")) == ()


def test_findings_come_by_place(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nguards:\n  - {op: 'x::*', key: CPU, rule: kernel}\noperators:\n"
        "  - {name: 'b::b', dispatch: {CPU: b}}\n  - {name: 'a::a', dispatch: {CPU: a}}\n"
    )
    assert [(one.check, one.span.line) for one in findings(state_of(text)) if one.span is not None] == [
        ("guard", 3),
        ("dangling-implementation", 5),
        ("dangling-implementation", 6),
    ]


def test_codes_are_unique_and_in_order() -> None:
    codes = [check.code for check in CHECKS]
    assert codes == sorted(set(codes))
    assert all(
        len(code) == 5 and code[2:].isdecimal() and check.group for code, check in zip(codes, CHECKS, strict=True)
    )
