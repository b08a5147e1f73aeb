"""Kernels at both composite keys, and kernels that no slot has."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OPERATOR = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {DISPATCH}\n"
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"


def test_both_composite_kernels(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", f"{EXPLICIT}: a, {IMPLICIT}: b, Autograd: c")
    assert findings(state_of(text), select="DC103,DC104") == (
        Finding(
            check="composite-conflict",
            severity=Severity.WARNING,
            message=f"demo::op has kernels at both {IMPLICIT} and {EXPLICIT}; the implicit one is never used",
            operator="demo::op",
            key=EXPLICIT,
            span=Span("x.yaml", 4, 16),
            related=(Related(f"the kernel at {IMPLICIT} is registered here", Span("x.yaml", 4, 73)),),
            tip=f"keep {IMPLICIT} if its kernel calls only differentiable operators, otherwise {EXPLICIT} and Autograd",
            mark=EXPLICIT,
        ),
    )


@pytest.mark.parametrize(
    ("dispatch", "key", "why"),
    [
        (
            f"{IMPLICIT}: a, Autograd: b",
            "Autograd",
            f"AutogradOther … AutogradNestedTensor (18 keys) hold the kernel at {IMPLICIT}",
        ),
        (
            f"{IMPLICIT}: a, NestedTensorCPU: b, AutogradNestedTensor: c, Autograd: d",
            "Autograd",
            f"AutogradOther … AutogradMeta (17 keys) hold the kernel at {IMPLICIT}, and AutogradNestedTensor has a "
            "kernel of its own",
        ),
    ],
)
def test_a_kernel_that_no_slot_has(dispatch: str, key: str, why: str, state_of: StateOf) -> None:
    (found,) = findings(state_of(OPERATOR.replace("DISPATCH", dispatch)), select="unused-registration")
    assert found.message == f"demo::op: the kernel at {key} is never used: {why}"
    assert (found.key, found.mark, found.severity) == (key, key, Severity.WARNING)


@pytest.mark.parametrize("dispatch", [f"{IMPLICIT}: a, CPU: c, Autograd: b", f"{EXPLICIT}: a, Autograd: b", "CPU: a"])
def test_a_kernel_with_one_slot_is_used(dispatch: str, state_of: StateOf) -> None:
    assert findings(state_of(OPERATOR.replace("DISPATCH", dispatch)), select="unused-registration") == ()
