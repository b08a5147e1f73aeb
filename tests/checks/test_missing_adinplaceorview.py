"""Writes and views of operators with an autograd kernel written by hand."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.catalogue.missing_adinplaceorview import TIP
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings


def messages(state_of: StateOf, schema: str, dispatch: str) -> list[tuple[str, str]]:
    """Severity and message of what the check says about one operator."""
    text = f"dispatch: 1\noperators:\n  - func: demo::op{schema}\n    dispatch: {{{dispatch}}}\n"
    results = findings(state_of(text))
    return [
        (finding.severity.value, finding.message) for finding in results if finding.check == "missing-adinplaceorview"
    ]


def test_a_write_that_nothing_counts(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - func: demo::relu_(Tensor(a!) self) -> Tensor(a!)\n"
        "    dispatch: {CPU: relu_cpu, Autograd: relu_autograd}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check="missing-adinplaceorview",
            severity=Severity.WARNING,
            message=(
                "demo::relu_ writes to self and has a hand-written autograd kernel (relu_autograd at Autograd), but "
                "no kernel at ADInplaceOrView counts the write: autograd does not notice that a saved tensor has "
                "changed"
            ),
            operator="demo::relu_",
            key="ADInplaceOrView",
            span=Span("x.yaml", 4, 31),
            related=(Related("the schema is here", Span("x.yaml", 3, 11)),),
            tip=TIP,
            fix=(own_kernel(OperatorName("demo::relu_"), "ADInplaceOrView"),),
            mark="Autograd",
        ),
    )


@pytest.mark.parametrize(
    ("schema", "what"),
    [
        ("(Tensor(a) x) -> Tensor(a)", "returns a view of x"),
        ("(Tensor(a) x) -> Tensor(a)[]", "returns a view of x"),
        ("(Tensor(a -> *) x) -> Tensor(a)[]", "returns a view of x"),
        ("(Tensor(a!)[] xs, Tensor(b!)? y=None) -> ()", "writes to xs, y"),
        ("(Tensor x, *, Tensor(a!) out) -> Tensor(a!)", "writes to out"),
    ],
)
def test_what_the_schema_says(schema: str, what: str, state_of: StateOf) -> None:
    ((severity, message),) = messages(state_of, schema, "CPU: cpu, Autograd: autograd")
    assert severity == "warning"
    assert message.startswith(f"demo::op {what} and has a hand-written autograd kernel (autograd at Autograd)")


@pytest.mark.parametrize(
    ("schema", "dispatch"),
    [
        ("(Tensor x) -> Tensor", "CPU: cpu, Autograd: autograd"),
        ("(Tensor(a) x) -> Tensor", "CPU: cpu, Autograd: autograd"),
        ("(Tensor(a!) x) -> ()", "CPU: cpu, Autograd: autograd, ADInplaceOrView: counts"),
        ("(Tensor(a!) x) -> ()", "CPU: cpu, Autograd: fallthrough"),
        ("(Tensor(a!) x) -> ()", "CompositeImplicitAutograd: math"),
    ],
)
def test_nothing_to_say(schema: str, dispatch: str, state_of: StateOf) -> None:
    assert messages(state_of, schema, dispatch) == []


def test_a_fallthrough_does_not_count_it(state_of: StateOf) -> None:
    dispatch = "CPU: cpu, AutogradCPU: autograd, ADInplaceOrView: fallthrough"
    assert len(messages(state_of, "(Tensor(a!) x) -> ()", dispatch)) == 1


def test_a_composite_kernel_may_leave_it_to_what_it_calls(state_of: StateOf) -> None:
    ((severity, _),) = messages(state_of, "(Tensor(a!) x) -> ()", "CompositeExplicitAutograd: k, Autograd: a")
    assert severity == "info"


@pytest.mark.parametrize("name", ["aten::relu_", "aten::expand"])
def test_pytorch_does_it_for_its_own_operators(name: str, state_of: StateOf) -> None:
    text = f"dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {{name: '{name}', dispatch: {{AutogradXLA: a}}}}\n"
    assert [finding for finding in findings(state_of(text)) if finding.check == "missing-adinplaceorview"] == []


def test_a_snapshot(state_of: StateOf) -> None:
    text = """\
dispatch: 1
universe: torch-2.15
snapshot: true
operators:
  - func: demo::composite_(Tensor(a!) x) -> Tensor(a!)
    dispatch: {CompositeExplicitAutograd: k, Meta: m, Autograd: a}
  - func: demo::generated_(Tensor(a!) x) -> Tensor(a!)
    dispatch:
      CPU: k
      Autograd: {debug: "registered at /pytorch/torch/csrc/autograd/generated/VariableType_0.cpp:1"}
  - func: demo::by_hand_(Tensor(a!) x) -> Tensor(a!)
    dispatch: {CPU: k, Autograd: a}
"""
    reported = [finding for finding in findings(state_of(text)) if finding.check == "missing-adinplaceorview"]
    assert [(finding.operator, finding.severity) for finding in reported] == [("demo::by_hand_", Severity.WARNING)]
