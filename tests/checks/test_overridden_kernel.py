"""Registrations that replace another."""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

TWICE = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: op_first, KEY: op_second}
  - {name: "demo::op", dispatch: {CPU: op_third}}
  - {name: "demo::op", dispatch: {KEY: op_fourth}}
"""


def test_both_places_are_named(state_of: StateOf) -> None:
    assert findings(state_of(TWICE.replace("KEY", "CUDA")), select="overridden-kernel") == (
        Finding(
            check="overridden-kernel",
            severity=Severity.WARNING,
            message="demo::op: the kernel at CPU overrides another",
            operator="demo::op",
            key="CPU",
            details=(("runs", "op_third"), ("replaced", "op_first")),
            span=Span("x.yaml", 5, 35),
            related=(Related("an overridden kernel is registered here", Span("x.yaml", 4, 21)),),
            tip="remove one of the registrations; if the override is intended, suppress the finding with a reason",
            mark="CPU",
        ),
        Finding(
            check="overridden-kernel",
            severity=Severity.WARNING,
            message="demo::op: the kernel at CUDA overrides another",
            operator="demo::op",
            key="CUDA",
            details=(("runs", "op_fourth"), ("replaced", "op_second")),
            span=Span("x.yaml", 6, 35),
            related=(Related("an overridden kernel is registered here", Span("x.yaml", 4, 37)),),
            tip="remove one of the registrations; if the override is intended, suppress the finding with a reason",
            mark="CUDA",
        ),
    )


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        (
            "{kernel: p, python: true}",
            "{kernel: q, python: true}",
            '. PyTorch\'s warning calls the overridden one "no debug info"',
        ),
        (
            "{kernel: p, python: true}",
            "{kernel: c, signature: (Tensor x) -> Tensor}",
            ". PyTorch's warning names the wrong kernel as the previous one: c",
        ),
        ("{kernel: c, signature: (Tensor x) -> Tensor}", "{kernel: p, python: true}", ""),
        ("unsaid", "{kernel: p, python: true}", ""),
    ],
)
def test_which_kernel_the_warning_of_pytorch_names(first: str, second: str, says: str, state_of: StateOf) -> None:
    """As live PyTorch 2.13 does: tests/engine/dispatcher/test_override_warning.py."""
    text = (
        "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n"
        f'    dispatch: {{CPU: {first}}}\n  - {{name: "demo::op", dispatch: {{CPU: {second}}}}}\n'
    )
    (finding,) = findings(state_of(text), select="overridden-kernel")
    assert finding.message == f"demo::op: the kernel at CPU overrides another{says}"


@pytest.mark.parametrize("key", ["Meta", "MTIA"])
def test_where_pytorch_is_silent_it_is_info(key: str, state_of: StateOf) -> None:
    results = findings(state_of(TWICE.replace("KEY", key)), select="overridden-kernel")
    assert [(finding.key, finding.severity) for finding in results] == [("CPU", Severity.WARNING), (key, Severity.INFO)]


def test_several_of_them(state_of: StateOf) -> None:
    (finding,) = findings(
        state_of(TWICE.replace("KEY: op", "CPU: op").replace("CPU: op_second", "XLA: op_second")), select="DC102"
    )
    assert finding.message == "demo::op: the kernel at CPU overrides 2 others"
    assert dict(finding.details) == {"runs": "op_fourth", "replaced": "op_third, op_first"}
    assert [related.span.line for related in finding.related] == [5, 4]


def test_over_a_base_only_what_the_files_replace(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'aten::bmm', dispatch: {CPU: mine, Meta: mine}}\n"
    )
    results = findings(state_of(text), select="overridden-kernel")
    # aten::bmm's kernel at CUDA replaces another in PyTorch 2.15 itself
    assert [(finding.key, finding.severity, finding.span) for finding in results] == [
        ("CPU", Severity.INFO, Span("x.yaml", 4, 36)),
        ("Meta", Severity.INFO, Span("x.yaml", 4, 47)),
    ]
    assert "RegisterCPU" in dict(results[0].details)["replaced"]


def test_a_base_alone() -> None:
    results = findings(load_state([], bases=["torch-2.15"]), select="overridden-kernel")
    assert results == ()  # no operator is the files' own
    names = ("aten::bmm", "aten::linalg_polar", "aten::linalg_polar.out", "aten::add.Tensor")
    results = findings(load_state([], bases=["torch-2.15"]), *names, select="overridden-kernel")
    assert [(finding.operator, finding.key) for finding in results] == [(name, "CUDA") for name in names[:3]]


def test_python_functions_are_named_with_their_places(state_of: StateOf) -> None:
    """A dump's text is the place of the library, which is the same for both kernels."""
    kernel = "{debug: registered at m.py:1, python: true, wraps: {by: function, kernel: m.NAME, at: 'm.py:LINE'}}"
    first, second = (kernel.replace("NAME", name).replace("LINE", line) for name, line in (("f", "7"), ("g", "9")))
    text = (
        f"dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{CPU: [{first}, {second}]}}\n"
    )
    (finding,) = findings(state_of(text), select="overridden-kernel")
    assert finding.details == (("runs", "m.g at m.py:9"), ("replaced", "m.f at m.py:7"))


# Kernels at both composite keys, and kernels that no slot has.


OPERATOR = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {DISPATCH}\n"
IMPLICIT, EXPLICIT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"


def test_both_composite_kernels(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", f"{EXPLICIT}: a, {IMPLICIT}: b, Autograd: c")
    (finding,) = findings(state_of(text), select="unused-registration")
    assert (finding.operator, finding.key, finding.span) == ("demo::op", IMPLICIT, Span("x.yaml", 4, 46))


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
    (finding,) = findings(state_of(OPERATOR.replace("DISPATCH", dispatch)), select="unused-registration")
    assert finding.message == f"demo::op: the kernel at {key} is never used: {why}"
    assert (finding.key, finding.mark, finding.severity) == (key, key, Severity.WARNING)


@pytest.mark.parametrize("dispatch", [f"{IMPLICIT}: a, CPU: c, Autograd: b", f"{EXPLICIT}: a, Autograd: b", "CPU: a"])
def test_a_kernel_with_one_slot_is_used(dispatch: str, state_of: StateOf) -> None:
    assert findings(state_of(OPERATOR.replace("DISPATCH", dispatch)), select="unused-registration") == ()
