"""Kernels that take int where tracing brings symbolic sizes."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

DEFAULT = "CompositeExplicitAutograd"
INT = 'signature: "(Tensor _0, int _1) -> Tensor _0"'
SYM_INT = 'signature: "(Tensor _0, SymInt _1) -> Tensor _0"'


def messages(state_of: StateOf, *kernels: str) -> list[str]:
    """Findings about an operator with these kernels."""
    lines = "".join(f"      {kernel}\n" for kernel in kernels)
    text = f"dispatch: 1\noperators:\n  - func: demo::grow(Tensor x, SymInt n) -> Tensor\n    dispatch:\n{lines}"
    return [finding.message for finding in findings(state_of(text)) if finding.check == "unsymbolic-kernel"]


def test_a_kernel_at_meta(state_of: StateOf) -> None:
    text = f"""\
dispatch: 1
operators:
  - func: demo::grow(Tensor x, SymInt n, SymInt[]? more=None) -> Tensor
    dispatch:
      Autograd: op_autograd
      Meta: {{kernel: grow_meta, signature: "(Tensor _0, int _1, int[]? _2) -> Tensor _0"}}
      CPU: {{kernel: grow_cpu, {SYM_INT.replace(") ->", ", SymInt[]? _2) ->")}}}
"""
    assert findings(state_of(text)) == (
        Finding(
            check="unsymbolic-kernel",
            severity=Severity.WARNING,
            message=(
                "demo::grow: the kernel grow_meta at Meta takes int for n, more, which the schema declares as SymInt: "
                "tracing through Meta specialises on the size"
            ),
            operator="demo::grow",
            key="Meta",
            details=(("arguments", "n, more"), ("signature", "(Tensor _0, int _1, int[]? _2) -> Tensor _0")),
            span=Span("x.yaml", 6, 7),
            related=(Related("the schema", Span("x.yaml", 3, 11)),),
            tip="take c10::SymInt in the kernel",
            mark="Meta",
        ),
    )


@pytest.mark.parametrize(
    ("kernels", "key", "slots"),
    [
        ([f"{DEFAULT}: {{kernel: k, {INT}}}"], DEFAULT, "Meta"),
        ([f"CPU: {{kernel: k, {INT}}}", f"AutogradCPU: {{kernel: k, {INT}}}"], "AutogradCPU", "AutogradCPU"),
        ([f"CPU: {{kernel: k, {INT}}}", f"Functionalize: {{kernel: k, {INT}}}"], "Functionalize", "Functionalize"),
    ],
)  # fmt: skip
def test_where_symbolic_sizes_come(kernels: list[str], key: str, slots: str, state_of: StateOf) -> None:
    assert messages(state_of, *kernels) == [
        f"demo::grow: the kernel k at {key} takes int for n, which the schema declares as SymInt: tracing through "
        f"{slots} specialises on the size"
    ]


@pytest.mark.parametrize(
    "kernels",
    [
        [f"CPU: {{kernel: k, {INT}}}", f"SparseCUDA: {{kernel: k, {INT}}}"],
        [f"CPU: {{kernel: k, {INT}}}", f"Meta: {{kernel: m, {SYM_INT}}}"],
        ["CPU: k", "Meta: m"],
    ],
)
def test_where_they_do_not(kernels: list[str], state_of: StateOf) -> None:
    assert messages(state_of, *kernels) == []


def test_plain_ints_are_plain(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::grow(Tensor x, int n) -> Tensor\n"
        f"    dispatch:\n      Meta: {{kernel: m, {INT}}}\n"
    )
    assert findings(state_of(text)) == ()
