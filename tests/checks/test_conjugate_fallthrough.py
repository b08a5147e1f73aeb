"""Fallthroughs that let tensors with the conjugate or negative bit through to every backend."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OUTCOME = "silently wrong results unless it handles the bit"


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
