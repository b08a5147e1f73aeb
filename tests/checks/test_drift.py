"""Declarations against a built library: what is missing, different or not declared, at its declaration."""

from __future__ import annotations

import pytest

from dispatch_cli.model.built import BuiltLibrary
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings, library_of

DECLARED = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x, float by=1.) -> Tensor
    dispatch:
      CPU: op_cpu
      CompositeImplicitAutograd: op_math
      AutocastCPU: fallthrough
    python_dispatch: {Autograd: op_python}
  - custom_op: demo::made(Tensor x) -> Tensor
    kernels: {cpu: made_cpu}
    fake: made_fake
libraries:
  - {kind: IMPL, namespace: aten, dispatch_key: PrivateUse1, impl: {relu: my_relu}}
fallbacks: {PrivateUse1: to_cpu}
higher_order_operators:
  - name: whole
    dispatch: {CompositeExplicitAutograd: whole_impl, AutocastCPU: fallthrough}
    autograd: whole_autograd
    modes: {FakeTensorMode: whole_fake}
"""


def drift(declared: str, built: str, state_of: StateOf) -> list[tuple[str, str, str | None, int, str]]:
    """Check, operator, key, line and the text at it, of all findings; the library registers what *built* declares."""
    library = library_of(state_of(built))
    lines = declared.splitlines()
    return [
        (one.check, one.operator or "", one.key, one.span.line, lines[one.span.line - 1][one.span.column - 1 :][:8])
        for one in findings(state_of(declared), select="drift", built=library)
        if one.span is not None
    ]


def test_a_library_that_registers_what_is_declared(state_of: StateOf) -> None:
    assert drift(DECLARED, DECLARED, state_of) == []
    renamed = DECLARED.replace("op_cpu", "other").replace("made_cpu", "other_cpu").replace("to_cpu", "fall")
    assert drift(DECLARED, renamed, state_of) == []


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("      CPU: op_cpu\n", "", [("drift-missing", "demo::op", "CPU", 5, "CPU: op_")]),
        ("CompositeImplicitAutograd: op_math", "CompositeExplicitAutograd: op_math", [
            ("drift-undeclared", "demo::op", "CompositeExplicitAutograd", 3, "demo::op"),
            ("drift-missing", "demo::op", "CompositeImplicitAutograd", 6, "Composit"),
        ]),
        ("AutocastCPU: fallthrough\n    py", "AutocastCPU: op_cast\n    py", [
            ("drift-different", "demo::op", "AutocastCPU", 7, "Autocast")
        ]),
        ("CPU: op_cpu", "CPU: fallthrough", [("drift-different", "demo::op", "CPU", 5, "CPU: op_")]),
        ("float by=1.", "float by=2.", [("drift-different", "demo::op", None, 3, "demo::op")]),
        ("Autograd: op_python", "AutogradCPU: op_python", [
            ("drift-undeclared", "demo::op", "AutogradCPU", 3, "demo::op"),
            ("drift-missing", "demo::op", "Autograd", 8, "Autograd"),
        ]),
        ("cpu: made_cpu", "cuda: made_cuda", [
            ("drift-undeclared", "demo::made", "CUDA", 9, "demo::ma"),
            ("drift-missing", "demo::made", "CPU", 10, "made_cpu"),
        ]),
        ("{relu: my_relu}", "{}", [("drift-missing", "aten::relu", None, 13, "my_relu}")]),
        ("PrivateUse1: to_cpu", "PrivateUse2: to_cpu", [
            ("drift-undeclared", "", "PrivateUse2", 3, "demo::op"),
            ("drift-missing", "", "PrivateUse1", 14, "PrivateU"),
        ]),
        ("PrivateUse1: to_cpu", "PrivateUse1: fallthrough", [("drift-different", "", "PrivateUse1", 14, "PrivateU")]),
        ("  - name: whole", "  - name: other", [("drift-missing", "whole", None, 16, "name: wh")]),
        ("FakeTensorMode: whole_fake", "ProxyTorchDispatchMode: whole_fake", [
            ("drift-undeclared", "whole", None, 16, "name: wh"),
            ("drift-missing", "whole", None, 19, "FakeTens"),
        ]),
        (", AutocastCPU: fallthrough}\n", ", AutocastCPU: cast}\n", [
            ("drift-different", "whole", "AutocastCPU", 17, "Autocast")
        ]),
    ],
)  # fmt: skip
def test_one_difference(
    old: str, new: str, found: list[tuple[str, str, str | None, int, str]], state_of: StateOf
) -> None:
    assert DECLARED.count(old) == 1
    assert drift(DECLARED, DECLARED.replace(old, new), state_of) == found


def test_other_operators_of_the_namespace_are_not_declared(state_of: StateOf) -> None:
    more = "  - func: demo::more(Tensor x) -> Tensor\n  - func: others::more(Tensor x) -> Tensor\nlibraries:\n"
    found = drift(DECLARED, DECLARED.replace("libraries:\n", more), state_of)
    assert found == [("drift-undeclared", "demo::more", None, 3, "demo::op")]
    library = library_of(state_of(DECLARED.replace("libraries:\n", more)))
    assert findings(state_of(DECLARED), "demo::op", select="drift", built=library) == ()


def test_kernels_of_pytorch_for_its_own_operators_are_no_drift(state_of: StateOf) -> None:
    """The files do not define aten::relu: only what the modules registered for it counts."""
    library = library_of(state_of(DECLARED))
    relu = library.operators["aten::relu"]
    kernel = relu.kernels["PrivateUse1"]
    kernels = {**relu.kernels, "CPU": kernel._replace(imported=False), "XLA": kernel}
    operators = {
        **library.operators,
        "aten::relu": relu._replace(kernels=kernels, schema="aten::relu(Tensor x) -> Tensor"),
    }
    found = findings(state_of(DECLARED), select="drift", built=library._replace(operators=operators))
    assert [(one.check, one.operator, one.key) for one in found] == [("drift-undeclared", "aten::relu", "XLA")]


def test_what_a_library_of_no_module_lacks(state_of: StateOf) -> None:
    nothing = BuiltLibrary("PyTorch", (), {}, {}, {})
    (finding,) = findings(
        state_of("dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n"), select="drift", built=nothing
    )
    assert finding.message == "demo::op is declared, but not registered in PyTorch"
    assert finding.tip == "no module was imported; name the one that registers it with --import MODULE"
    assert finding.span == Span("x.yaml", 3, 11)


def test_a_suppression_holds_for_drift(state_of: StateOf) -> None:
    text = DECLARED.replace("CPU: op_cpu\n", "CPU: op_cpu # dispatch-cli: ignore[drift] not in this build\n")
    library = library_of(state_of(DECLARED.replace("      CPU: op_cpu\n", "")))
    assert findings(state_of(text), select="drift", built=library) == ()
