"""Slots at which C++ and Python choose another kernel."""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

ID = "python-resolution"


def test_a_python_kernel_at_meta(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n"
        "    dispatch: {CompositeImplicitAutograd: op_math}\n    python_dispatch: {Meta: op_meta}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check=ID,
            severity=Severity.INFO,
            message=(
                "demo::op: at AutogradMeta C++ runs the kernel at CompositeImplicitAutograd, and Python runs the "
                "backend fallback: only Python sees the Python kernel at Meta"
            ),
            operator="demo::op",
            key="AutogradMeta",
            span=Span("x.yaml", 5, 23),
            related=(Related("the kernel that C++ runs", Span("x.yaml", 4, 43)),),
            slots=(("demo::op", "AutogradMeta"),),
            mark="Meta",
        ),
    )


def test_python_finds_none(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch:\n"
        "      CompositeImplicitAutogradNestedTensor: nested\n      CompositeExplicitAutograd: default\n      "
        "Autograd: a\n"
    )
    (finding,) = findings(state_of(text))
    assert (finding.check, finding.severity, finding.key) == (ID, Severity.WARNING, "NestedTensorCPU")
    assert finding.message == (
        "demo::op: at NestedTensorCPU … NestedTensorMeta (16 keys) C++ runs the kernel at "
        "CompositeImplicitAutogradNestedTensor, and Python finds no kernel: in Python the kernel at "
        "CompositeImplicitAutogradNestedTensor gives way to the one at CompositeExplicitAutograd"
    )


@pytest.mark.parametrize(
    ("dispatch", "python"),
    [
        ("CompositeExplicitAutograd: k, Autograd: a", "Meta: m"),
        ("CPU: k, Autograd: a", "CPU: m"),
        ("CompositeImplicitAutograd: k", "CompositeImplicitAutograd: m"),
        ("CompositeImplicitAutogradNestedTensor: n, CPU: k, Autograd: a", "CPU: m"),
    ],
)
def test_a_python_kernel_in_its_place(dispatch: str, python: str, state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n"
        f"    dispatch: {{{dispatch}}}\n    python_dispatch: {{{python}}}\n"
    )
    assert [finding.message for finding in findings(state_of(text)) if finding.check == ID] == []


def test_where_python_fails_in_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    reported = [finding for finding in findings(state, *state.dispatcher.names()) if finding.check == ID]
    assert {finding.severity for finding in reported} == {Severity.INFO}
    # in a live PyTorch 2.13 resolve_key raises for each: no kernel at NestedTensorCPU, ambiguous at AutogradOther
    assert {finding.operator: finding.key for finding in reported} == {
        "aten::randn_like": "NestedTensorCPU",
        "aten::randn_like.generator": "NestedTensorCPU",
        "aten::zeros_like": "NestedTensorCPU",
        "aten::native_batch_norm": "AutogradOther",
        "aten::_upsample_nearest_exact2d": "AutogradOther",
        "aten::_upsample_nearest_exact3d": "AutogradOther",
        "aten::upsample_nearest2d": "AutogradOther",
        "aten::upsample_nearest3d": "AutogradOther",
    }


def test_an_overlay_does_not_answer_for_pytorch(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'aten::zeros_like', dispatch: {PrivateUse1: k}}\n"
    )
    assert [finding for finding in findings(state_of(text)) if finding.check == ID] == []
