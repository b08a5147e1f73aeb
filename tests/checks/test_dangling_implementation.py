"""What is said of kernels without a schema, and what the misspelt name may have been."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

TIP = "define the operator, correct its name, or load the declarations that define it as well"


def test_every_key_is_named_and_the_first_place(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - {name: 'other::zzz', dispatch: {CUDA: c}}\n"
        "  - {name: 'demo::multiply', dispatch: {CompositeExplicitAutograd: a, CPU: b}}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message="other::zzz has kernels at CUDA, but nothing defines it",
            operator="other::zzz",
            details=(("keys", "CUDA"),),
            span=Span("x.yaml", 3, 37),
            tip=TIP,
            mark="CUDA",
        ),
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message="demo::multiply has kernels at CPU, CompositeExplicitAutograd, but nothing defines it",
            operator="demo::multiply",
            details=(("keys", "CPU, CompositeExplicitAutograd"),),
            span=Span("x.yaml", 4, 41),
            tip=TIP,
            mark="CompositeExplicitAutograd",
        ),
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aten::relU", "; did you mean aten::relu?"),
        ("atn::relu", "; did you mean aten::relu?"),
        ("aten::add.Tensr", "; did you mean aten::add.Tensor?"),
        ("aten::add", "; aten::add has the overloads Scalar, Scalar_out, Tensor, out"),
        ("aten::relu.Tensor", "; aten::relu has the overloads default (no name), out"),
        ("aten::fmod", "; aten::fmod has the overloads Scalar, Scalar_out, Tensor, Tensor_out"),
        ("aten::div", "; aten::div has the overloads Scalar, Scalar_mode, Scalar_mode_out, Scalar_out and 4 more"),
        ("aten::relu_x.out", "; did you mean aten::relu_?"),
        ("aten::softmx.int", "; did you mean aten::softmax.int?"),
        ("nobody::nothing_like_it", ""),
    ],
)
def test_what_was_meant(name: str, hint: str, state_of: StateOf) -> None:
    text = f"dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {{name: '{name}', dispatch: {{PrivateUse1: a}}}}\n"
    (finding,) = findings(state_of(text))
    assert finding.message == f"{name} has kernels at PrivateUse1, but nothing defines it{hint}"


def test_kernels_that_no_schema_fits(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - name: demo::scale
    dispatch:
      CPU: {kernel: scale_cpu, signature: "(Tensor _0, int _1) -> Tensor _0"}
      XLA: {kernel: scale_xla, signature: "(Tensor _0, SymInt _1) -> Tensor _0"}
      CUDA: {kernel: scale_cuda, signature: "(Tensor _0, float _1) -> Tensor _0"}
"""
    (finding,) = findings(state_of(text))
    assert finding == Finding(
        check="dangling-implementation",
        severity=Severity.ERROR,
        message=(
            "demo::scale has kernels at CPU, CUDA, XLA, but nothing defines it; its kernels have different "
            "signatures, and PyTorch refuses the second"
        ),
        operator="demo::scale",
        details=(
            ("keys", "CPU, CUDA, XLA"),
            ("CPU", "(Tensor _0, int _1) -> Tensor _0"),
            ("CUDA", "(Tensor _0, float _1) -> Tensor _0"),
        ),
        span=Span("x.yaml", 5, 7),
        related=(Related("the kernel with another signature", Span("x.yaml", 7, 13)),),
        tip=TIP,
        mark="CPU",
    )


def test_kernels_that_take_symint_are_kept_apart(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - name: demo::scale
    dispatch:
      CPU: {kernel: scale_cpu, signature: "(Tensor _0, int _1) -> Tensor _0"}
      XLA: {kernel: scale_xla, signature: "(Tensor _0, SymInt _1) -> Tensor _0"}
"""
    (finding,) = findings(state_of(text))
    assert finding.message == "demo::scale has kernels at CPU, XLA, but nothing defines it"
