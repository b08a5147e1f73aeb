"""Kernels that no call reaches: of factories, fallbacks, and slots that no alias covers; alias keys of others."""

from __future__ import annotations

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OPERATOR = "dispatch: 1\noperators:\n  - func: demo::op(SCHEMA) -> Tensor\n    dispatch: {DISPATCH}\n"
DEFAULT = "CompositeExplicitAutograd"
NON_FUNCTIONAL = "CompositeExplicitAutogradNonFunctional"


# unreachable-factory


def test_a_factory_out_of_reach(state_of: StateOf) -> None:
    text = OPERATOR.replace("SCHEMA", "int size").replace("DISPATCH", "CUDA: a, Autograd: b, CPU: c")
    assert findings(state_of(text), select="unreachable-factory") == (
        Finding(
            check="unreachable-factory",
            severity=Severity.ERROR,
            message="demo::op takes no tensors: calls end at Undefined, which is empty, and never reach CPU, CUDA",
            operator="demo::op",
            key="Undefined",
            details=(("unreachable", "CPU, CUDA"),),
            span=Span("x.yaml", 4, 38),
            tip="register a kernel at BackendSelect that chooses the backend by the device; or register the kernel at "
            "CompositeExplicitAutograd",
            mark="CPU",
        ),
    )


@pytest.mark.parametrize(
    ("schema", "dispatch"),
    [
        ("int size", "CPU: a, BackendSelect: b"),
        ("int size", f"{DEFAULT}: a"),
        ("int size", "CompositeImplicitAutograd: a"),
        ("int size", "FuncTorchDynamicLayerFrontMode: a"),
        ("int size", "Autograd: a"),
        ("Tensor? x", "CPU: a"),
        ("Tensor[] x", "CPU: a"),
    ],
)
def test_what_is_in_reach_or_not_for_tensors(schema: str, dispatch: str, state_of: StateOf) -> None:
    text = OPERATOR.replace("SCHEMA", schema).replace("DISPATCH", dispatch)
    assert findings(state_of(text), select="unreachable-factory") == ()


def test_without_a_fallback_at_backendselect_the_call_fails_there(state_of: StateOf) -> None:
    text = OPERATOR.replace("SCHEMA", "int size").replace("DISPATCH", "CPU: a")
    assert findings(state_of(f"{text}fallbacks: none\n"), select="unreachable-factory") == ()


# shadowed-fallback


def fallback_of(key: str, dispatch: str, schema: str = "Tensor x") -> str:
    text = OPERATOR.replace("SCHEMA", schema).replace("DISPATCH", dispatch)
    return f"{text}fallbacks: {{{key}: my_fallback}}\n"


def test_a_fallback_that_is_not_asked(state_of: StateOf) -> None:
    more = "  - func: demo::other(Tensor x) -> Tensor\n    dispatch: {CPU: a, Autograd: b}\nfallbacks"
    text = fallback_of("PrivateUse1", f"{DEFAULT}: a, Autograd: b").replace("fallbacks", more)
    assert findings(state_of(text), select="shadowed-fallback") == (
        Finding(
            check="shadowed-fallback",
            severity=Severity.INFO,
            message=(
                "the fallback my_fallback at PrivateUse1 is not used for 1 of 2 operators (demo::op): its default "
                f"kernel at {DEFAULT} comes first"
            ),
            key="PrivateUse1",
            details=((f"at {DEFAULT}", "1 operator"),),
            span=Span("x.yaml", 7, 13),
            tip="register the fallback's kernel at PrivateUse1 for operators whose default kernel does not work there",
            mark="PrivateUse1",
        ),
    )


@pytest.mark.parametrize(
    ("key", "dispatch"),
    [
        ("PrivateUse1", "CompositeImplicitAutograd: a"),
        ("PrivateUse1", "CPU: a"),
        ("PrivateUse1", f"{DEFAULT}: a, PrivateUse1: my_fallback"),
        ("NestedTensorCPU", f"{DEFAULT}: a"),
        ("AutogradPrivateUse2", "CompositeImplicitAutograd: a"),
    ],
)
def test_fallbacks_that_are_asked_or_known_not_to_be(key: str, dispatch: str, state_of: StateOf) -> None:
    assert findings(state_of(fallback_of(key, dispatch)), select="shadowed-fallback") == ()


def test_over_a_base_one_finding_speaks_for_all(state_of: StateOf) -> None:
    text = "dispatch: 1\nextends: [torch-2.15]\nfallbacks: {PrivateUse1: npu_fallback, AutogradPrivateUse2: b}\n"
    (finding,) = findings(state_of(text), select="shadowed-fallback")
    assert finding.message == (
        "the fallback npu_fallback at PrivateUse1 is not used for 1,676 of 3,624 operators (aten::addr_, aten::alias, "
        f"aten::allclose …): their default kernel at {DEFAULT} or {NON_FUNCTIONAL} comes first"
    )
    assert finding.details == ((f"at {DEFAULT}", "1,229 operators"), (f"at {NON_FUNCTIONAL}", "447 operators"))


# alias-gap

GAP = f"""\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {{CPU: a, XPU: b, SparseCUDA: c, NestedTensorCPU: d, {NON_FUNCTIONAL}: e, Autograd: f}}
  - func: demo::other(Tensor x) -> Tensor
    dispatch: {{OTHERS, Autograd: g}}
"""


def test_a_gap(state_of: StateOf) -> None:
    text = GAP.replace("OTHERS", "SparseXPU: x, NestedTensorXPU: y")
    (finding,) = findings(state_of(text), select="alias-gap")  # there are no tensors of SparseCPU
    assert finding == Finding(
        check="alias-gap",
        severity=Severity.WARNING,
        message=(
            f"demo::op has a kernel at XPU, but SparseXPU, NestedTensorXPU are empty: {NON_FUNCTIONAL} does not cover "
            "them; other backends have kernels at SparseCUDA, NestedTensorCPU"
        ),
        operator="demo::op",
        key="SparseXPU",
        details=(("empty", "SparseXPU, NestedTensorXPU"), ("kernels at", "SparseCUDA, NestedTensorCPU")),
        span=Span("x.yaml", 4, 24),
        tip="register kernels at SparseXPU, NestedTensorXPU",
        fix=(
            own_kernel(OperatorName("demo::op"), "SparseXPU"),
            own_kernel(OperatorName("demo::op"), "NestedTensorXPU"),
        ),
        slots=(("demo::op", "SparseXPU"), ("demo::op", "NestedTensorXPU")),
        mark="XPU",
        subject="XPU",
    )


@pytest.mark.parametrize("others", ["XPU: x", "SparseCsrXPU: x, QuantizedXPU: y"])
def test_a_backend_without_such_tensors_has_no_gap(others: str, state_of: StateOf) -> None:
    assert findings(state_of(GAP.replace("OTHERS", others)), select="alias-gap") == ()


# foreign-alias-kernel


def test_a_kernel_at_an_alias_key_of_another_library(state_of: StateOf) -> None:
    operator = f"{{name: 'aten::to.dtype', dispatch: {{{DEFAULT}: mine}}}}"
    text = f"dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {operator}\n"
    (finding,) = findings(state_of(text), select="foreign-alias-kernel")
    assert finding == Finding(
        check="foreign-alias-kernel",
        severity=Severity.WARNING,
        message=(
            f"aten::to.dtype belongs to another library, but the kernel at the alias key {DEFAULT} serves every "
            "backend: it fills Undefined … SparseCsrMeta (70 keys), which had another kernel before"
        ),
        operator="aten::to.dtype",
        key=DEFAULT,
        span=Span("x.yaml", 4, 41),
        tip="register at the runtime keys of your own backend",
        mark=DEFAULT,
    )


def test_an_operator_of_ones_own_may_have_alias_kernels(state_of: StateOf) -> None:
    text = OPERATOR.replace("SCHEMA", "Tensor x").replace("DISPATCH", f"{DEFAULT}: a, Autograd: b")
    assert findings(state_of(f"{text}extends: [torch-2.15]\n"), select="foreign-alias-kernel") == ()
    text = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'aten::im2col', dispatch: {PrivateUse1: mine}}\n"
    assert findings(state_of(text), select="foreign-alias-kernel") == ()
