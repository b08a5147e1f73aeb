"""Kernels at the autograd keys: ambiguous, displaced, missing, in the way, or alone."""

from __future__ import annotations

import pytest

from dispatch_cli.api import what_if_state
from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.edit import own_kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OPERATOR = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {DISPATCH}\n"
MATH = "CompositeImplicitAutograd"
DEFAULT = "CompositeExplicitAutograd"


def messages(state_of: StateOf, check: str, dispatch: str, schema: str = "", more: str = "") -> list[tuple[str, str]]:
    """Severity and message of what a check says about one operator."""
    text = OPERATOR.replace("DISPATCH", dispatch).replace("(Tensor x) -> Tensor", schema or "(Tensor x) -> Tensor")
    return [(finding.severity.value, finding.message) for finding in findings(state_of(text + more), select=check)]


# ambiguous-autogradother


def test_the_culprits_are_named(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", f"MkldnnCPU: a, {MATH}: b, SparseCPU: c")
    assert findings(state_of(text), select="ambiguous-autogradother") == (
        Finding(
            check="ambiguous-autogradother",
            severity=Severity.ERROR,
            message=(
                f"demo::op: AutogradOther is ambiguous between the kernel at {MATH} and those at MkldnnCPU, "
                "SparseCPU: calls with MkldnnCPU tensors fail"
            ),
            operator="demo::op",
            key="AutogradOther",
            details=(("culprits", "MkldnnCPU, SparseCPU"),),
            span=Span("x.yaml", 4, 16),
            related=(
                Related("the kernel at SparseCPU is registered here", Span("x.yaml", 4, 71)),
                Related(f"the kernel at {MATH} is registered here", Span("x.yaml", 4, 57)),
            ),
            tip="register a kernel at AutogradOther, or remove those at MkldnnCPU, SparseCPU",
            fix=(own_kernel(OperatorName("demo::op"), "AutogradOther"),),
            mark="MkldnnCPU",
        ),
    )


@pytest.mark.parametrize(
    ("dispatch", "severity", "message"),
    [
        (f"SparseCPU: a, {MATH}: b", "warning", "that at SparseCPU: calls at AutogradOther fail"),
        (
            f"{MATH}: b, SparseCPU: a",  # the registration at SparseCPU does not recompute AutogradOther
            "warning",
            "that at SparseCPU: the slot is stale, and calls there still find b [math kernel]",
        ),
        (f"SparseCPU: a, HIP: a, {MATH}: b", "error", "that at SparseCPU: calls with HIP tensors fail"),
    ],
)
def test_whose_calls_fail(dispatch: str, severity: str, message: str, state_of: StateOf) -> None:
    results = messages(state_of, "ambiguous-autogradother", dispatch)
    assert results == [
        (severity, f"demo::op: AutogradOther is ambiguous between the kernel at {MATH} and {message}"),
    ]


@pytest.mark.parametrize(
    "dispatch", [f"MkldnnCPU: a, {MATH}: b, AutogradOther: c", f"CPU: a, {MATH}: b", f"MkldnnCPU: a, {DEFAULT}: b"]
)
def test_what_is_not_ambiguous(dispatch: str, state_of: StateOf) -> None:
    assert messages(state_of, "ambiguous-autogradother", dispatch) == []


# math-kernel-displaced


def test_a_displaced_math_kernel(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", f"CPU: a, CUDA: b, {MATH}: c")
    assert findings(state_of(text), select="math-kernel-displaced") == (
        Finding(
            check="math-kernel-displaced",
            severity=Severity.WARNING,
            message=(
                f"demo::op: the kernels at CPU, CUDA displace the one at {MATH} from AutogradCPU, AutogradCUDA, "
                "leaving only PyTorch's autograd fallback: results have no derivative, unless the kernels call "
                "differentiable operators"
            ),
            operator="demo::op",
            key="AutogradCPU",
            details=(("culprits", "CPU, CUDA"), ("autograd keys", "AutogradCPU, AutogradCUDA")),
            span=Span("x.yaml", 4, 16),
            related=(Related(f"the kernel at {MATH} is registered here", Span("x.yaml", 4, 60)),),
            tip=f"register a kernel at Autograd; or instead register the operators that the {MATH} kernel calls",
            fix=(own_kernel(OperatorName("demo::op"), "Autograd"),),
            slots=(("demo::op", "AutogradCPU"), ("demo::op", "AutogradCUDA")),
            mark="CPU",
        ),
    )


ONLY = (
    "the kernel at CPU displaces the one at CompositeImplicitAutograd from AutogradCPU, leaving only PyTorch's "
    "autograd fallback: "
)


@pytest.mark.parametrize(
    ("said_of_it", "severity", "message"),
    [
        ("", "warning", "results have no derivative, unless the kernel calls differentiable operators"),
        (", redispatches: false", "warning", "results have no derivative"),
        (
            ", redispatches: other-operators",
            "info",
            "autograd differentiates the operators that the kernel calls, but backward() warns",
        ),
    ],
)
def test_the_derivative_where_a_math_kernel_is_displaced(
    said_of_it: str, severity: str, message: str, state_of: StateOf
) -> None:
    """`test_live_autograd_claims.py` has a live PyTorch say so of a kernel at CPU of `aten::true_divide`."""
    dispatch = f"CPU: {{kernel: a{said_of_it}}}, {MATH}: b"
    assert messages(state_of, "math-kernel-displaced", dispatch) == [(severity, f"demo::op: {ONLY}{message}")]


BACKWARD = "  - {func: 'demo::op_backward(Tensor grad, Tensor x) -> Tensor', dispatch: {Autograd: fallthrough}}\n"


def test_of_two_kernels_the_one_that_is_not_known_decides(state_of: StateOf) -> None:
    """Only where all of them call other operators is the derivative that of those."""
    both = "CPU: {kernel: a, redispatches: other-operators}, CUDA: {kernel: b WAY}"
    for way, displaced, follows in (
        ("", "warning", False),
        (", redispatches: false", "warning", False),
        (", redispatches: other-operators", "info", True),
    ):
        dispatch = both.replace(" WAY", way)
        ((severity, message),) = messages(state_of, "math-kernel-displaced", f"{dispatch}, {MATH}: m")
        assert (severity, "autograd differentiates the operators" in message) == (displaced, follows)
        results = messages(state_of, "no-autograd-kernel", dispatch, more=BACKWARD)
        assert results[0][0] == displaced


def test_what_is_declared_of_autograd_kernels(state_of: StateOf) -> None:
    """A decomposition at Autograd is known by its declaration, and only without one by its name."""
    dispatch = f"{DEFAULT}: a, Autograd: {{kernel: NAME, redispatches: WAY}}"
    for name, way, expected in (
        ("b", "other-operators", True),
        ("decomposition", "below-autograd", False),
        ("decomposition", "other-operators", True),
    ):
        text = dispatch.replace("NAME", name).replace("WAY", way)
        assert bool(messages(state_of, "autograd-only", text)) is expected


def test_who_counts_a_write(state_of: StateOf) -> None:
    """An autograd kernel that calls other operators leaves it to them."""
    for way, expected in (("below-autograd", True), ("other-operators", False), ("raises", False)):
        dispatch = f"CPU: a, Autograd: {{kernel: b, redispatches: {way}}}"
        schema = "(Tensor(a!) x) -> Tensor(a!)"
        assert bool(messages(state_of, "missing-adinplaceorview", dispatch, schema)) is expected


RAISES = 'nothing: every call with such tensors raises "Could not run"'


@pytest.mark.parametrize(
    ("dispatch", "schema", "more", "found"),
    [
        (
            f"NestedTensorCPU: a, {MATH}: b",
            "",
            "",
            [
                (
                    "error",
                    (
                        f"the kernel at NestedTensorCPU displaces the one at {MATH} from AutogradNestedTensor, leaving "
                        f"{RAISES}"
                    ),
                )
            ],
        ),
        (
            f"CPU: a, PrivateUse1: a, {MATH}: b",
            "",
            "universe: torch-2.4\n",
            [
                (
                    "error",
                    f"the kernel at PrivateUse1 displaces the one at {MATH} from AutogradPrivateUse1, leaving {RAISES}",
                )
            ],
        ),
        (f"CPU: a, {MATH}: b", "(Tensor x) -> bool", "", []),  # nothing to differentiate
        (
            f"PrivateUse1: a, {MATH}: b",
            "(Tensor x) -> bool",
            "universe: torch-2.4\n",
            [
                (
                    "error",
                    f"the kernel at PrivateUse1 displaces the one at {MATH} from AutogradPrivateUse1, leaving {RAISES}",
                )
            ],
        ),
        (f"CPU: a, {MATH}: b, Autograd: c", "", "", []),
        (f"CPU: a, {MATH}: b, {DEFAULT}: c", "", "", []),  # unused-registration's
        (f"SparseCPU: a, {MATH}: b", "", "", []),  # sparse-bypass's
    ],
)
def test_what_is_there_instead(
    dispatch: str, schema: str, more: str, found: list[tuple[str, str]], state_of: StateOf
) -> None:
    expected = [(severity, f"demo::op: {message}") for severity, message in found]
    assert messages(state_of, "math-kernel-displaced", dispatch, schema, more) == expected


# no-autograd-kernel

FOLLOWS = (
    "PyTorch's fallback: backward() warns, and follows the differentiable operators that the kernel calls, if there "
    "are any"
)
WITHOUT = f"AutogradCPU holds {FOLLOWS}"


def test_nothing_for_autograd(state_of: StateOf) -> None:
    assert findings(state_of(OPERATOR.replace("DISPATCH", "CPU: a, Meta: b")), select="no-autograd-kernel") == (
        Finding(
            check="no-autograd-kernel",
            severity=Severity.INFO,
            message=f"demo::op has a kernel at CPU but none for autograd: {WITHOUT}",
            operator="demo::op",
            key="AutogradCPU",
            details=(("backend kernels", "CPU"), ("autograd keys", "AutogradCPU")),
            span=Span("x.yaml", 4, 16),
            tip="register a kernel at Autograd, or a fallthrough there if the operator has no derivative",
            fix=(own_kernel(OperatorName("demo::op"), "Autograd"),),
            slots=(("demo::op", "AutogradCPU"),),
            mark="CPU",
        ),
    )


@pytest.mark.parametrize(
    ("dispatch", "schema", "found"),
    [
        (
            "CPU: a, CUDA: b, AutogradCPU: c",
            "",
            [f"warning: a kernel at CUDA but none for autograd: AutogradCUDA holds {FOLLOWS}"],
        ),
        (
            DEFAULT + ": a",
            "",
            [
                f"info: a kernel at {DEFAULT} but none for autograd: AutogradCPU … AutogradPrivateUse1 (11 keys) "
                f"hold {FOLLOWS}"
            ],
        ),
        (
            "CPU: a, NestedTensorCPU: b, AutogradCPU: c",
            "",
            [
                "error: a kernel at NestedTensorCPU but none for autograd: AutogradNestedTensor is empty, so a call "
                'raises "Could not run"'
            ],
        ),
        (
            "CPU: a",
            "(Tensor(a!) x) -> ()",
            [
                "info: a kernel at CPU but none for autograd: AutogradCPU holds PyTorch's fallback, which ignores "
                "arguments that are written to"
            ],
        ),
        ("CPU: a", "(Tensor x) -> int", []),
        ("CPU: a", "(int x) -> Tensor", []),
        ("Meta: a", "", []),
        ("QuantizedCPU: a", "", []),
        ("CPU: a, Autograd: fallthrough", "", []),
        (f"CPU: a, {MATH}: b, AutogradCPU: c", "", []),
    ],
)
def test_who_lacks_autograd(dispatch: str, schema: str, found: list[str], state_of: StateOf) -> None:
    results = messages(state_of, "no-autograd-kernel", dispatch, schema)
    assert [f"{severity}: {message.removeprefix('demo::op has ')}" for severity, message in results] == found


@pytest.mark.parametrize(
    ("other", "severity"),
    [
        ("op_backward(Tensor g) -> Tensor", "warning"),
        ("op_bwd(Tensor g) -> Tensor", "warning"),
        ("op_grad(Tensor g) -> Tensor", "warning"),
        ("op_backwards(Tensor g) -> Tensor", "info"),
        ("opx_backward(Tensor g) -> Tensor", "info"),
    ],
)
def test_a_derivative_that_nothing_calls(other: str, severity: str, state_of: StateOf) -> None:
    more = f"  - {{func: 'demo::{other}', dispatch: {{CPU: b, Autograd: fallthrough}}}}\n"
    assert [row[0] for row in messages(state_of, "no-autograd-kernel", "CPU: a", more=more)] == [severity]


def test_the_derivative_of_another_overload(state_of: StateOf) -> None:
    more = "  - {func: 'demo::op.b(Tensor x, int y) -> Tensor', dispatch: {CPU: b, Autograd: c}}\n"
    assert [row[0] for row in messages(state_of, "no-autograd-kernel", "CPU: a", more=more)] == ["warning"]


@pytest.mark.parametrize("more", ["fallbacks: none\n", "fallbacks: none\nuniverse: torch-2.4\n"])
def test_without_pytorchs_fallbacks_nothing_is_said(more: str, state_of: StateOf) -> None:
    assert messages(state_of, "no-autograd-kernel", "CPU: a", more=more) == []


def test_over_a_base_the_files_own_kernels_count(state_of: StateOf) -> None:
    text = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'quantized::linear', dispatch: {CPU: mine}}\n"
    (finding,) = findings(state_of(text), select="no-autograd-kernel")
    assert (finding.severity, finding.operator, finding.mark) == (Severity.INFO, "quantized::linear", "CPU")


# sparse-bypass


def test_a_bypassed_kernel(state_of: StateOf) -> None:
    text = OPERATOR.replace("DISPATCH", f"SparseCPU: a, SparseCsrCPU: b, {MATH}: c")
    assert findings(state_of(text), select="sparse-bypass") == (
        Finding(
            check="sparse-bypass",
            severity=Severity.WARNING,
            message=(
                f"demo::op: outside inference mode, calls with SparseCPU, SparseCsrCPU tensors run the {MATH} kernel "
                "at AutogradCPU, not the kernels at SparseCPU, SparseCsrCPU"
            ),
            operator="demo::op",
            key="AutogradCPU",
            details=(("bypassed", "SparseCPU, SparseCsrCPU"),),
            span=Span("x.yaml", 4, 16),
            related=(Related(f"the kernel at {MATH} is registered here", Span("x.yaml", 4, 74)),),
            tip=f"register a kernel at AutogradCPU, or {DEFAULT} and Autograd instead of {MATH}",
            fix=(own_kernel(OperatorName("demo::op"), "AutogradCPU"),),
            mark="SparseCPU",
        ),
    )


@pytest.mark.parametrize(
    ("dispatch", "found"),
    [
        (
            f"SparseCPU: a, QuantizedCUDA: a, {MATH}: b",
            [("AutogradCPU", "SparseCPU"), ("AutogradCUDA", "QuantizedCUDA")],
        ),
        (f"MTIA: a, {MATH}: b", [("AutogradMTIA", "MTIA")]),
        (f"HIP: a, VE: a, {MATH}: b", [("AutogradOther", "HIP, VE")]),
        (f"NestedTensorCPU: a, Autograd: fallthrough, {MATH}: b", [("AutogradCPU", "NestedTensorCPU")]),
        (f"NestedTensorCPU: a, {MATH}: b", []),
        (f"CPU: a, SparseCPU: a, {MATH}: b", []),
        (f"SparseCPU: fallthrough, {MATH}: b", []),
        (f"SparseCPU: a, AutogradCPU: c, {MATH}: b", []),
        (f"SparseCPU: a, {DEFAULT}: b", []),
    ],
)
def test_who_is_bypassed(dispatch: str, found: list[tuple[str, str]], state_of: StateOf) -> None:
    results = findings(state_of(OPERATOR.replace("DISPATCH", dispatch)), select="sparse-bypass")
    assert [(finding.key, dict(finding.details)["bypassed"]) for finding in results] == found


def test_a_key_that_nobody_can_name_is_not_advised(state_of: StateOf) -> None:
    (finding,) = findings(state_of(OPERATOR.replace("DISPATCH", f"MTIA: a, {MATH}: b")), select="sparse-bypass")
    assert finding.tip == f"register {DEFAULT} and Autograd instead of {MATH}"


# autograd-only

ALONE = "inference mode excludes the autograd keys, so a call finds no kernel"


def test_autograd_alone(state_of: StateOf) -> None:
    tip = f"register a decomposition at {MATH}; for an autograd kernel, add the backend kernel that it redispatches to"
    results = findings(state_of(OPERATOR.replace("DISPATCH", "Autograd: a, Meta: b")), select="autograd-only")
    assert {("demo::op", "CPU"), ("demo::op", "SparseCUDA")} < {*results[0].slots}  # every backend's, but for Meta
    assert ("demo::op", "Meta") not in results[0].slots
    assert results == (
        Finding(
            check="autograd-only",
            severity=Severity.WARNING,
            message=f"demo::op has a kernel at Autograd, but no backend kernel except at Meta: {ALONE}",
            operator="demo::op",
            key="Autograd",
            span=Span("x.yaml", 4, 16),
            tip=tip,
            slots=results[0].slots,
            mark="Autograd",
        ),
    )


@pytest.mark.parametrize(
    ("dispatch", "found"),
    [
        (
            "AutogradCPU: a, AutogradCUDA: a, AutocastCPU: b",
            [f"demo::op has kernels at AutogradCPU, AutogradCUDA, but no backend kernel: {ALONE}"],
        ),
        ("Autograd: fallthrough", []),
        ("Autograd: a, Tracer: b", []),
        ("Autograd: a, SparseCPU: b", []),
        ("Autograd: a, CompositeImplicitAutogradNestedTensor: b", []),
        (f"Autograd: op_autograd, {DEFAULT}: b", []),
        (
            f"Autograd: my_Decomposition, {DEFAULT}: lowering",
            [f"demo::op: inference mode skips my_Decomposition at Autograd and runs lowering at {DEFAULT}"],
        ),
        (
            "AutogradCUDA: op_decomp, CPU: a, CUDA: b",
            ["demo::op: inference mode skips op_decomp at AutogradCUDA and runs b at CUDA"],
        ),
        (f"Autograd: decomp, {DEFAULT}: decomp", []),
        (f"Autograd: decomp, {DEFAULT}: fallthrough", []),
    ],
)
def test_what_inference_mode_skips(dispatch: str, found: list[str], state_of: StateOf) -> None:
    assert [message for _, message in messages(state_of, "autograd-only", dispatch)] == found


SKIPPED = (
    "demo::op: inference mode and custom operators skip a at {above} and run b at {source}, because nothing is "
    "registered at {backend}"
)


@pytest.mark.parametrize(
    ("dispatch", "found"),
    [
        (f"AutogradCPU: a, {MATH}: b", [("info", "AutogradCPU", MATH, "CPU")]),
        (f"AutogradPrivateUse1: a, {DEFAULT}: b, {MATH}: c", [("info", "AutogradPrivateUse1", DEFAULT, "PrivateUse1")]),
        (
            f"AutogradCPU: {{kernel: a, redispatches: false}}, {DEFAULT}: b",
            [("warning", "AutogradCPU", DEFAULT, "CPU")],
        ),
        (f"AutogradCPU: a, {MATH}: b, CUDA: c", [("info", "AutogradCPU", MATH, "CPU")]),
        (f"AutogradCPU: a, {MATH}: b, CPU: c", []),
        (f"AutogradCPU: a, {MATH}: a", []),
        (f"AutogradCPU: a, {MATH}: b, QuantizedCPU: c", []),
        (
            f"AutogradCPU: {{kernel: a, redispatches: false}}, {MATH}: b, QuantizedCPU: c",
            [("warning", "AutogradCPU", MATH, "CPU")],
        ),
        (f"AutogradCPU: fallthrough, {MATH}: b", []),
        (f"AutogradCPU: a, {MATH}: fallthrough", []),
        (f"AutogradCPU: {{kernel: a, redispatches: below-autograd}}, {MATH}: b", []),
        (f"AutogradMeta: a, {MATH}: b", []),
        (f"AutogradOther: a, {MATH}: b", []),
        (f"Autograd: a, {DEFAULT}: b", []),
    ],
)
def test_a_backend_that_has_nothing_below_its_autograd_key(
    dispatch: str, found: list[tuple[str, str, str, str]], state_of: StateOf
) -> None:
    assert messages(state_of, "autograd-only", dispatch) == [
        (severity, SKIPPED.format(above=above, source=source, backend=backend))
        for severity, above, source, backend in found
    ]


@pytest.mark.parametrize(("function", "count"), [("m.a", 0), ("m.b", 1)])
def test_python_kernels_of_one_library_have_one_debug_text(function: str, count: int, state_of: StateOf) -> None:
    """A dump shows for each of them where the `torch.library.Library` was made; a capture names the functions."""
    kernel = "{debug: 'registered at m.py:1', python: true, wraps: {by: function, kernel: FUNCTION}}"
    dispatch = f"AutogradCPU: {kernel.replace('FUNCTION', 'm.a')}, {MATH}: {kernel.replace('FUNCTION', function)}"
    assert len(messages(state_of, "autograd-only", dispatch)) == count


@pytest.mark.parametrize(
    ("python", "found"),
    [
        ("Autograd: p", [("info", "Autograd")]),
        ("AutogradCUDA: p, Meta: q", [("info", "AutogradCUDA")]),
        (f"Autograd: p, {MATH}: p", []),
        ("Autograd: p, CPU: q", []),
        ("Meta: p", []),
    ],
)
def test_python_kernels(python: str, found: list[tuple[str, str]], state_of: StateOf) -> None:
    results = messages(state_of, "autograd-only", "CPU: a, Autograd: b", more=f"    python_dispatch: {{{python}}}\n")
    text = "demo::op: inference mode skips the Python dispatcher's kernel at {}, and no backend key has one"
    assert results == [(severity, text.format(keys)) for severity, keys in found]


def test_pytorchs_own_python_kernels_are_not_the_files(state_of: StateOf) -> None:
    operator = "{name: 'aten::hardshrink', dispatch: {PrivateUse1: mine}}"
    text = f"dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {operator}\n"
    assert findings(state_of(text), select="autograd-only") == ()


# what-ifs


@pytest.mark.parametrize(
    ("keys", "found"),
    [
        (["CPU", MATH], [("math-kernel-displaced", "AutogradCPU")]),
        (["CPU"], [("no-autograd-kernel", "AutogradCPU")]),
        (["CPU", "Autograd"], []),
        (["MkldnnCPU", MATH], [("ambiguous-autogradother", "AutogradOther")]),
        (["SparseCPU", "AutogradOther", MATH], [("sparse-bypass", "AutogradCPU")]),
    ],
)
def test_the_registrations_of_a_what_if_are_ones_own(keys: list[str], found: list[tuple[str, str]]) -> None:
    results = findings(what_if_state(keys), select="DC1,DC2,DC5")
    assert [(finding.check, finding.key) for finding in results] == found
