"""Order sensitivity as a finding: which order, where it is harmless, and when it is for information only."""

from __future__ import annotations

from dispatch_cli.checks.check import Finding, Related, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

SHORT = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{{}}}\n"
NESTED = "NestedTensorCPU: nested"
MATH, AUTOGRAD = "CompositeImplicitAutograd: math", "Autograd: autograd"
BLOCKS = """\
dispatch: 1
libraries:
  - {kind: DEF, namespace: demo, define: ["op(Tensor x) -> Tensor"]}
"""


def rows(state_of: StateOf, text: str, *ops: str) -> list[Finding]:
    return [finding for finding in findings(state_of(text), *ops) if finding.check == "order-sensitive"]


def test_a_finding_names_the_shortest_order(state_of: StateOf) -> None:
    text = SHORT.format(", ".join(("CPU: cpu", NESTED, MATH, AUTOGRAD, "AutogradCPU: autograd")))
    assert rows(state_of, text) == [
        Finding(
            check="order-sensitive",
            severity=Severity.WARNING,
            message="demo::op: in the registration order CompositeImplicitAutograd → Autograd → NestedTensorCPU, "
            "AutogradNestedTensor keeps the kernel at CompositeImplicitAutograd, but should hold the kernel "
            "at Autograd",
            operator="demo::op",
            key="AutogradNestedTensor",
            details=(
                (
                    "order",
                    "math at CompositeImplicitAutograd, then autograd at Autograd, then nested at NestedTensorCPU",
                ),
                ("live", "math [math kernel]"),
                ("canonical", "autograd [autograd kernel]"),
            ),
            span=Span("x.yaml", 4, 26),
            related=(
                Related("registered first", Span("x.yaml", 4, 78)),
                Related("registered second", Span("x.yaml", 4, 94)),
            ),
            slots=(("demo::op", "AutogradNestedTensor"),),
            mark="NestedTensorCPU",
            tip="register a kernel at AutogradNestedTensor",
            fix=(own_kernel(OperatorName("demo::op"), "AutogradNestedTensor"),),
            subject="CompositeImplicitAutograd Autograd NestedTensorCPU",
        )
    ]


def test_slots_with_one_order_are_one_finding(state_of: StateOf) -> None:
    """The default kernel does not refresh the nested keys, which it takes from the math kernel."""
    text = SHORT.format(f"CompositeExplicitAutograd: default, {MATH}, AutogradNestedTensor: own, {AUTOGRAD}")
    assert [(finding.message, finding.tip) for finding in rows(state_of, text)] == [
        (
            "demo::op: in the registration order CompositeImplicitAutograd → CompositeExplicitAutograd, "
            "NestedTensorCPU … NestedTensorMeta (16 keys) keep the kernel at CompositeImplicitAutograd, but should "
            "hold nothing",
            "remove one of these registrations",
        ),
        (
            "demo::op: in the registration order CompositeImplicitAutograd → Autograd → CompositeExplicitAutograd, "
            "AutogradOther … AutogradMeta (17 keys) keep the kernel at CompositeImplicitAutograd, but should hold the "
            "kernel at Autograd",
            "remove one of these registrations",
        ),
    ]


def test_nothing_where_the_order_of_today_is_stale_already(state_of: StateOf) -> None:
    state = state_of(SHORT.format(f"{MATH}, {AUTOGRAD}, {NESTED}"))
    assert [
        finding.check for finding in findings(state) if finding.check in ("order-sensitive", "stale-live-table")
    ] == ["stale-live-table"]


def test_nothing_where_every_order_gives_the_same_kernels(state_of: StateOf) -> None:
    same = "NestedTensorCPU: nested, CompositeImplicitAutograd: both, Autograd: both"
    assert rows(state_of, SHORT.format(same)) == []
    assert rows(state_of, SHORT.format(f"{NESTED}, {MATH}, {AUTOGRAD}, AutogradNestedTensor: own")) == []


def test_a_block_keeps_its_order(state_of: StateOf) -> None:
    """In two blocks either can be first; in one, only somebody who rewrites it can change the order."""
    separate = BLOCKS + (
        "  - {kind: IMPL, namespace: demo, dispatch_key: NestedTensorCPU, impl: {op: nested}}\n"
        "  - {kind: IMPL, namespace: demo, dispatch_key: CompositeImplicitAutograd, impl: {op: math}}\n"
        "  - {kind: IMPL, namespace: demo, dispatch_key: Autograd, impl: {op: autograd}}\n"
    )
    assert [finding.severity for finding in rows(state_of, separate)] == [Severity.WARNING]
    together = BLOCKS + (
        "  - kind: IMPL\n"
        "    namespace: demo\n"
        "    impl: {op: [{kernel: nested, dispatch_key: NestedTensorCPU},\n"
        "                {kernel: math, dispatch_key: CompositeImplicitAutograd},\n"
        "                {kernel: autograd, dispatch_key: Autograd}]}\n"
    )
    assert [finding.severity for finding in rows(state_of, together)] == [Severity.INFO]


def test_a_captured_state_has_an_order_of_its_own(state_of: StateOf) -> None:
    """A finding only about PyTorch is for information, and is not repeated for files over PyTorch."""
    over = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - name: aten::linear\n    dispatch: {{{}}}\n"
    (finding,) = rows(state_of, "dispatch: 1\nextends: [torch-2.15]\noperators: []\n", "aten::linear")
    assert (finding.severity, finding.span, finding.subject) == (
        Severity.INFO,
        None,
        "Autograd CompositeImplicitAutograd NestedTensorCPU",
    )
    assert rows(state_of, over.format("PrivateUse1: mine"), "aten::linear") == []


def test_an_order_against_the_libraries_below_is_for_information(state_of: StateOf) -> None:
    """PyTorch's kernels are there before any of the user's: only an order that keeps to that is a warning."""
    over = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - name: aten::{}\n    dispatch: {{{}}}\n"
    (against,) = rows(state_of, over.format("relu", MATH))
    assert (against.severity, against.subject) == (
        Severity.INFO,
        "Autograd CompositeImplicitAutograd NestedTensorCPU",
    )
    (after,) = rows(state_of, over.format("dropout", f"{NESTED}, {AUTOGRAD}"))
    assert (after.severity, after.subject) == (
        Severity.WARNING,
        "CompositeImplicitAutograd Autograd NestedTensorCPU",
    )
