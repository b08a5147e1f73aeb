"""Fallthroughs that let tensors with the conjugate or negative bit through to every backend."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import Action, Edit
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

ID = "conjugate-fallthrough"
NAME = OperatorName("demo::scale")
FALLTHROUGH = "registered at x.yaml:3"
OUTCOME = "silently wrong results unless it handles the bit"
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
                "demo::scale (your own operator) falls through at Conjugate and Negative: every backend's kernel gets "
                f"unmaterialised conjugated and negated tensors, and gives {OUTCOME}"
            ),
            operator="demo::scale",
            key="Conjugate",
            details=(("keys", "Conjugate, Negative"),),
            span=Span("x.yaml", 4, 37),
            tip="remove the fallthrough unless every kernel of the operator handles the bit",
            slots=(("demo::scale", "Conjugate"), ("demo::scale", "Negative")),
            mark="Conjugate",
            fix=(
                Edit(Action.REMOVE, NAME, "Conjugate", kernel=FALLTHROUGH, span=Span("x.yaml", 4, 48)),
                Edit(Action.REMOVE, NAME, "Negative", kernel=FALLTHROUGH, span=Span("x.yaml", 4, 71)),
            ),
        ),
    )


def test_an_operator_without_tensors_gets_no_bit(state_of: StateOf) -> None:
    text = f"{OVERLAY}  - {{name: aten::NAME, dispatch: {{PrivateUse1: a}}}}\n"
    kernels = [findings(state_of(text.replace("NAME", name)), select=ID) for name in ("empty.memory_format", "clone")]
    assert list(map(len, kernels)) == [0, 1]


def test_kernels_of_others(state_of: StateOf) -> None:
    operators = "operators:\n  - func: demo::scale(Tensor x) -> Tensor\n    dispatch: {CUDA: a, XLA: b, Autograd: c}\n"
    Path("base.yaml").write_text(f"dispatch: 1\n{operators}", encoding="utf-8")
    text = (
        "dispatch: 1\nextends: [base.yaml]\noperators:\n"
        "  - {name: 'demo::scale', dispatch: {CPU: a, ZeroTensor: fallthrough}}\n"
    )
    (finding,) = findings(state_of(text))
    assert finding.message == (
        "demo::scale (an operator of another library) falls through at ZeroTensor: every backend's kernel (including "
        f"those of other libraries at CUDA, XLA) gets unmaterialised zero tensors, and crashes or gives {OUTCOME}"
    )
    assert finding.details == (("keys", "ZeroTensor"), ("kernels of others", "CUDA, XLA"))
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
                "aten::view (PyTorch's operator) falls through at Conjugate and Negative: the kernel npu_view at "
                f"PrivateUse1 gets unmaterialised conjugated and negated tensors, and gives {OUTCOME}"
            ),
            operator="aten::view",
            key="PrivateUse1",
            details=(("keys", "Conjugate, Negative"),),
            span=Span("x.yaml", 4, 37),
            tip="make sure that the kernel handles or resolves the bit; a kernel that only makes a view passes it on",
            mark="PrivateUse1",
        ),
    )


@pytest.mark.parametrize(
    ("name", "kernel"), [("aten::relu", "PrivateUse1: k"), ("aten::view", "AutogradPrivateUse1: k")]
)
def test_nothing_to_say(name: str, kernel: str, state_of: StateOf) -> None:
    text = f"{OVERLAY}  - {{name: '{name}', dispatch: {{{kernel}}}}}\n"
    assert [finding for finding in findings(state_of(text)) if finding.check == ID] == []


@pytest.mark.parametrize("name", ["aten::mm", "aten::relu"])
def test_a_fallthrough_for_an_operator_of_pytorch(name: str, state_of: StateOf) -> None:
    text = f"{OVERLAY}  - {{name: '{name}', dispatch: {{'Conjugate, Negative': fallthrough}}}}\n"
    (finding,) = (finding for finding in findings(state_of(text)) if finding.check == ID)
    assert finding.severity is Severity.WARNING
    assert finding.message.startswith(f"{name} (PyTorch's operator) falls through at Conjugate and Negative: every ")
    assert "CPU" in dict(finding.details)["kernels of others"].split(", ") or name == "aten::relu"
