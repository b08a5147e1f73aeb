"""Forms of an operator that are not there for the same backends."""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

ID = "sibling-disagreement"


def messages(state_of: StateOf, text: str) -> list[tuple[str, str]]:
    """Severity and message of what the check says."""
    return [(finding.severity.value, finding.message) for finding in findings(state_of(text)) if finding.check == ID]


def overlay(state_of: StateOf, more: str = "", **kernels: str) -> list[tuple[str, str]]:
    """Findings about a backend's kernels for PyTorch's operators."""
    operators = "".join(
        f"  - {{name: 'aten::{name.replace('__', '.')}', dispatch: {{{key}: k}}}}\n" for name, key in kernels.items()
    )
    return messages(state_of, f"dispatch: 1\nextends: [torch-2.15]\noperators:\n{operators}{more}")


def test_a_form_that_is_missing(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    dispatch: {CPU: a, CUDA: b, Autograd: c}
  - func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CUDA: d, Autograd: e, ADInplaceOrView: f}
"""
    assert findings(state_of(text)) == (
        Finding(
            check=ID,
            severity=Severity.WARNING,
            message="demo::twice has a kernel at CPU, but its in-place form demo::twice_ has none there",
            operator="demo::twice",
            key="CPU",
            span=Span("x.yaml", 4, 16),
            related=(Related("demo::twice_ is defined here", Span("x.yaml", 5, 11)),),
            tip="register a kernel for demo::twice_ there as well, or a composite kernel for it that calls demo::twice",
            fix=(own_kernel(OperatorName("demo::twice_"), "CPU"),),
            slots=(("demo::twice_", "CPU"),),
            mark="CPU",
            subject="demo::twice_",
        ),
    )


def test_many_keys_are_shortened_and_listed(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    dispatch: {"CPU, CUDA, XLA, XPU, HPU": a, Autograd: c}
  - func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {MPS: d, Autograd: e, ADInplaceOrView: f}
"""
    first, second = findings(state_of(text), select="sibling-disagreement")
    assert (
        first.message
        == "demo::twice has kernels at CPU … HPU (5 keys), but its in-place form demo::twice_ has none there"
    )
    assert first.details == (("keys", "CPU, CUDA, XLA, XPU, HPU"),)
    assert second.message == "demo::twice_ has a kernel at MPS, but its functional form demo::twice has none there"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # other arguments: another operator
        ("twice(Tensor self) -> Tensor", "twice_(Tensor(a!) self, int n) -> Tensor(a!)"),
        ("twice(Tensor self, *, int n) -> Tensor", "twice_(Tensor(a!) self, int n) -> Tensor(a!)"),
        # no form of the other: another name
        ("twice(Tensor self) -> Tensor", "twice_it(Tensor(a!) self) -> Tensor(a!)"),
        ("_twice(Tensor self) -> Tensor", "twice(Tensor self) -> Tensor"),
    ],
)
def test_operators_that_are_no_forms_of_each_other(one: str, other: str, state_of: StateOf) -> None:
    text = f"""\
dispatch: 1
operators:
  - func: demo::{one}
    dispatch: {{CPU: a, Autograd: c}}
  - func: demo::{other}
    dispatch: {{CUDA: d, Autograd: e, ADInplaceOrView: f}}
"""
    assert messages(state_of, text) == []


def test_dunder_names(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - func: demo::__and__(Tensor self, Tensor other) -> Tensor
    dispatch: {CPU: a, CUDA: b, Autograd: c}
  - func: demo::__iand__(Tensor(a!) self, Tensor other) -> Tensor(a!)
    dispatch: {CUDA: d, Autograd: e, ADInplaceOrView: f}
"""
    message = "demo::__and__ has a kernel at CPU, but its in-place form demo::__iand__ has none there"
    assert messages(state_of, text) == [("warning", message)]


def test_a_composite_kernel_serves_the_other_form(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    dispatch: {CPU: a, Autograd: c}
  - func: demo::twice_(Tensor(a!) self) -> Tensor(a!)
    dispatch: {CompositeImplicitAutograd: d}
"""
    assert messages(state_of, text) == []


def test_default_kernels_of_structured_operators_call_the_out_form(state_of: StateOf) -> None:
    assert overlay(state_of, add__Tensor="PrivateUse1") == [
        (
            "warning",
            "aten::add.Tensor has a kernel at PrivateUse1, but its out= form aten::add.out has none there, and the "
            "default "
            "kernel of aten::add_.Tensor calls it",
        )
    ]
    assert overlay(state_of, add__Tensor="PrivateUse1", add__out="PrivateUse1") == []
    assert overlay(state_of, bmm="XPU") == [
        ("info", "aten::bmm has a kernel at XPU, but its out= form aten::bmm.out has none there")
    ]


def test_the_other_form_goes_to_a_fallback(state_of: StateOf) -> None:
    assert overlay(state_of, "fallbacks: {PrivateUse1: npu_cpu}\n", relu_="PrivateUse1") == [
        (
            "info",
            "aten::relu_ has a kernel at PrivateUse1, but its functional form aten::relu uses the backend fallback "
            "npu_cpu there",
        )
    ]


def test_what_pytorch_lacks_itself_is_not_said_of_an_overlay(state_of: StateOf) -> None:
    assert overlay(state_of, cos="PrivateUse1", cos_="PrivateUse1", cos__out="PrivateUse1") == []


def test_gaps_of_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    severities = {
        finding.message: finding.severity
        for finding in findings(state, *state.dispatcher.names())
        if finding.check == ID
    }
    assert set(severities.values()) == {Severity.INFO}
    # each of these raises "Could not run" in a live PyTorch 2.13
    nested = "NestedTensorCPU, NestedTensorCUDA, NestedTensorHPU"
    assert f"aten::cos has kernels at {nested}, but its in-place form aten::cos_ has none there" in severities
    assert (
        f"aten::fill_.Scalar has kernels at {nested}, but its functional form aten::fill.Scalar has none there"
        in severities
    )
    sparse = "aten::pow.Tensor_Scalar has kernels at SparseCPU, SparseCUDA, but its in-place form"
    assert f"{sparse} aten::pow_.Scalar has none there" in severities
    assert not [message for message in severities if "out= form" in message]


def test_a_fake_implementation_of_one_form(state_of: StateOf) -> None:
    """An ``out=`` form needs none in torch 2.13 and later; a kernel at Meta serves meta tensors, and counts."""
    forms = """\
dispatch: 1
operators:
  - func: demo::twice(Tensor self) -> Tensor
    {field}
  - {{func: "demo::twice.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", tags: [out]}}
"""
    assert messages(state_of, forms.format(field="fake: twice_fake")) == []
    assert len(messages(state_of, forms.format(field="dispatch: {Meta: twice_meta}"))) == 1
