"""Fallthroughs that let tensors with the conjugate or negative bit through to every backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

ID = "conjugate-fallthrough"
OVERLAY = "dispatch: 1\nextends: [torch-2.15]\noperators:\n"


def test_a_library_of_ones_own(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::scale(Tensor x) -> Tensor\n"
        "    dispatch: {CPU: a, Autograd: b, Conjugate: fallthrough, Negative: fallthrough}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check=ID,
            severity=Severity.WARNING,
            message=(
                "demo::scale: the fallthrough at Conjugate and Negative makes every backend's kernel, those of other "
                "libraries too, get conjugated and negated tensors that are not materialised"
            ),
            operator="demo::scale",
            key="Conjugate",
            span=Span("x.yaml", 4, 48),
            tip="leave it out unless every kernel of the operator heeds the bit",
            mark="Conjugate",
        ),
    )


def test_kernels_of_others(state_of: StateOf) -> None:
    operators = "operators:\n  - func: demo::scale(Tensor x) -> Tensor\n    dispatch: {CUDA: a, XLA: b, Autograd: c}\n"
    Path("base.yaml").write_text(f"dispatch: 1\n{operators}", encoding="utf-8")
    text = (
        "dispatch: 1\nextends: [base.yaml]\noperators:\n"
        "  - {name: 'demo::scale', dispatch: {CPU: a, ZeroTensor: fallthrough}}\n"
    )
    (finding,) = findings(state_of(text))
    assert finding.message == (
        "demo::scale: the fallthrough at ZeroTensor makes every backend's kernel, those at CUDA, XLA, of other "
        "libraries, "
        "get zero tensors that are not materialised"
    )
    assert finding.details == (("kernels of others", "CUDA, XLA"),)
    assert finding.related == (
        Related("the kernel at CUDA", Span("base.yaml", 4, 22)),
        Related("the kernel at XLA", Span("base.yaml", 4, 30)),
    )


def test_a_backend_under_the_fallthroughs_of_pytorch(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'aten::view', dispatch: {PrivateUse1: npu_view}}\n"
    )
    assert findings(state_of(text), select=ID) == (
        Finding(
            check=ID,
            severity=Severity.INFO,
            message=(
                "aten::view: the kernel npu_view at PrivateUse1 gets conjugated and negated tensors that are not "
                "materialised, because the operator falls through at Conjugate and Negative"
            ),
            operator="aten::view",
            key="PrivateUse1",
            span=Span("x.yaml", 4, 50),
            tip="see that the kernel heeds or resolves the bit; a kernel that only makes a view passes it on",
            mark="PrivateUse1",
        ),
    )


@pytest.mark.parametrize(
    ("name", "kernel"), [("aten::relu", "PrivateUse1: k"), ("aten::view", "AutogradPrivateUse1: k")]
)
def test_nothing_to_say(name: str, kernel: str, state_of: StateOf) -> None:
    text = f"{OVERLAY}  - {{name: '{name}', dispatch: {{{kernel}}}}}\n"
    assert [one for one in findings(state_of(text)) if one.check == ID] == []
