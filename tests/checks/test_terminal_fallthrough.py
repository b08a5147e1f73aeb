"""Fallthroughs that end a call, or lead nowhere. What PyTorch does there is in test_live_claims.py."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.catalogue.terminal_fallthrough import ASSERTS, COULD_NOT_RUN, NO_TENSORS, TIP
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OPERATOR = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {DISPATCH}\n"


def messages(state_of: StateOf, dispatch: str, more: str = "") -> list[tuple[str, str]]:
    """Severity and message of what the check says about an operator with these kernels."""
    results = findings(state_of(OPERATOR.replace("DISPATCH", dispatch) + more))
    return [(finding.severity.value, finding.message) for finding in results if finding.check == "terminal-fallthrough"]


def test_a_fallthrough_at_a_backend_key(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", "CPU: fallthrough, CUDA: op_cuda, AutogradCPU: a, AutogradCUDA: a")
    assert findings(state_of(text)) == (
        Finding(
            check="terminal-fallthrough",
            severity=Severity.ERROR,
            message=f"demo::op: no key is below the fallthrough at CPU: {NO_TENSORS}",
            operator="demo::op",
            key="CPU",
            span=Span("x.yaml", 4, 16),
            mark="CPU",
            tip=TIP,
        ),
    )


@pytest.mark.parametrize("key", ["XLA", "SparseCPU", "QuantizedCUDA", "NestedTensorCPU", "MkldnnCPU", "Meta"])
def test_every_backend_key_is_the_last_one(key: str, state_of: StateOf) -> None:
    message = f"demo::op: no key is below the fallthrough at {key}: {NO_TENSORS}"
    assert messages(state_of, f"CPU: op_cpu, Autograd: a, {key}: fallthrough") == [("error", message)]


@pytest.mark.parametrize(
    ("dispatch", "severity", "message"),
    [
        (
            "CPU: fallthrough, CompositeExplicitAutograd: op_default, Autograd: a",
            "warning",
            "no key is below the fallthrough at CPU: a call continues at Undefined and runs the kernel at "
            "CompositeExplicitAutograd",
        ),
        (
            "CompositeExplicitAutograd: fallthrough, Autograd: a",
            "error",
            f"the fallthrough at CompositeExplicitAutograd fills CPU … SparseCsrMeta (69 keys), and no key is below: "
            f"{ASSERTS}",
        ),
        (
            "CPU: op_cpu, AutogradCPU: op_autograd, AutogradXLA: fallthrough",
            "warning",
            f"the fallthrough at AutogradXLA sends calls on to XLA, which is empty: {COULD_NOT_RUN}",
        ),
        (
            "Autograd: fallthrough",
            "warning",
            f"the fallthrough at Autograd sends calls on to the backends, which are empty: {COULD_NOT_RUN}",
        ),
    ],
)
def test_what_becomes_of_the_call(dispatch: str, severity: str, message: str, state_of: StateOf) -> None:
    assert messages(state_of, dispatch) == [(severity, f"demo::op: {message}")]


def test_a_fallback_at_a_backend_key(state_of: StateOf) -> None:
    message = (
        "the backend fallback at PrivateUse1 falls through, and no key is below: for an operator without a kernel at "
        f"PrivateUse1 {NO_TENSORS}"
    )
    more = "fallbacks: {PrivateUse1: fallthrough}\n"
    assert messages(state_of, "CPU: op_cpu, Autograd: a", more) == [("error", message)]


@pytest.mark.parametrize(
    "dispatch",
    [
        "CPU: op_cpu, Autograd: fallthrough",
        "CPU: op_cpu, AutogradCPU: fallthrough, ADInplaceOrView: fallthrough, Conjugate: fallthrough",
        "CompositeImplicitAutograd: op_math, AutocastCPU: fallthrough",
        "CompositeExplicitAutograd: op_default, AutogradXLA: fallthrough",
    ],
)
def test_fallthroughs_with_something_below(dispatch: str, state_of: StateOf) -> None:
    assert messages(state_of, dispatch) == []


def test_a_fallback_below_is_something(state_of: StateOf) -> None:
    assert messages(state_of, "Autograd: fallthrough", "fallbacks: {PrivateUse1: cpu_fallback}\n") == []


def test_an_operator_without_a_schema_is_not_called_at_all(state_of: StateOf) -> None:
    text = "dispatch: 1\noperators:\n  - {name: 'demo::op', dispatch: {CPU: fallthrough}}\n"
    assert [finding.check for finding in findings(state_of(text))] == ["dangling-implementation"]
