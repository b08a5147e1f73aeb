"""Declarations against a built library: what is missing, different or not declared, at its declaration."""

from __future__ import annotations

import pytest

from dispatch_cli.model.built import BuiltLibrary, BuiltOperator
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
"""


def drift(declared: str, built: str, state_of: StateOf) -> list[tuple[str, str, str | None, int, str]]:
    """Check, operator, key, line and the text at it, of all findings; the library registers what *built* declares."""
    library = library_of(state_of(built))
    lines = declared.splitlines()
    return [
        (
            finding.check,
            finding.operator or "",
            finding.key,
            finding.span.line,
            lines[finding.span.line - 1][finding.span.column - 1 :][:8],
        )
        for finding in findings(state_of(declared), select="drift", built=library)
        if finding.span is not None
    ]


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
            ("drift-undeclared", "", "PrivateUse2", 1, "dispatch"),
            ("drift-missing", "", "PrivateUse1", 14, "PrivateU"),
        ]),
        ("PrivateUse1: to_cpu", "PrivateUse1: fallthrough", [("drift-different", "", "PrivateUse1", 14, "PrivateU")]),
    ],
)  # fmt: skip
def test_one_difference(
    old: str, new: str, found: list[tuple[str, str, str | None, int, str]], state_of: StateOf
) -> None:
    assert DECLARED.count(old) == 1
    assert drift(DECLARED, DECLARED.replace(old, new), state_of) == found


def of_pytorch(library: BuiltLibrary, *operators: str) -> BuiltLibrary:
    """The library, where PyTorch has had its kernels of these operators before."""
    rows = {
        name: one._replace(
            schema=f"{name}(Tensor self) -> Tensor",
            imported=False,
            kernels={key: kernel._replace(imported=False) for key, kernel in one.kernels.items()},
        )
        for name, one in library.operators.items()
        if name in operators
    }
    return library._replace(operators={**library.operators, **rows})


def test_a_kernel_of_pytorch_is_not_the_one_that_is_declared(state_of: StateOf) -> None:
    state = state_of(DECLARED)
    library = of_pytorch(library_of(state), "aten::relu")
    (finding,) = findings(state, select="drift", built=library)
    assert (finding.check, finding.operator, finding.key) == ("drift-missing", "aten::relu", "PrivateUse1")
    assert finding.message.endswith("is declared, but not registered by the library: the one there in the library is "
                                    "PyTorch's own")  # fmt: skip
    assert [name for name, _ in finding.details] == ["PyTorch's kernel"]
    # as in a process where PyTorch was imported before anybody could look
    assert findings(state, select="drift", built=library._replace(apart=False)) == ()


@pytest.mark.parametrize("base", ["", "extends: [torch-2.15]\n"])
def test_kernels_for_operators_of_pytorch_are_declared(base: str, state_of: StateOf) -> None:
    """Those that the modules register, of operators of which the files say nothing, too; PyTorch's own are not."""
    declared = DECLARED.replace("operators:\n  - func", f"{base}operators:\n  - func", 1)
    library = library_of(state_of(DECLARED))
    relu = library.operators["aten::relu"]
    kernel = relu.kernels["PrivateUse1"]
    kernels = {**relu.kernels, "CPU": kernel._replace(imported=False), "XLA": kernel}
    alone = BuiltOperator("aten::abs(Tensor self) -> Tensor", {"CPU": kernel, "CUDA": kernel._replace(imported=False)})
    operators = {
        **library.operators,
        "aten::relu": relu._replace(kernels=kernels, schema="aten::relu(Tensor self) -> Tensor"),
        "aten::abs": alone,
    }
    results = findings(state_of(declared), select="drift", built=library._replace(operators=operators))
    assert {(finding.check, finding.operator, finding.key) for finding in results} == {
        ("drift-undeclared", "aten::relu", "XLA"),
        ("drift-undeclared", "aten::abs", "CPU"),
    }
    assert {finding.details[0][0] for finding in results} == {"kernel"}
    lines = declared.splitlines()
    (place,) = (finding.span for finding in results if finding.operator == "aten::abs" and finding.span is not None)
    assert lines[place.line - 1].startswith("  - {kind: IMPL, namespace: aten")


CUSTOM = """\
dispatch: 1
operators:
  - custom_op: demo::made(Tensor x) -> Tensor
    kernel: made
    fake: made_fake
    backward: made_backward
"""


@pytest.mark.parametrize(
    ("field", "what", "key"), [("fake", "fake implementation", "Meta"), ("backward", "backward", "Autograd")]
)
def test_functions_of_a_custom_operator(field: str, what: str, key: str, state_of: StateOf) -> None:
    without = "".join(line for line in CUSTOM.splitlines(True) if f" {field}:" not in line)
    library = library_of(state_of(without))
    (finding,) = findings(state_of(CUSTOM), select="drift", built=library)
    assert (finding.check, finding.key, finding.subject) == ("drift-missing", key, what)
    library = library_of(state_of(CUSTOM))
    (finding,) = findings(state_of(without), select="drift", built=library)
    assert (finding.check, finding.key, finding.subject) == ("drift-undeclared", key, what)
    assert finding.message.startswith(f"demo::made: the {what} is registered in")


def test_a_fake_implementation_is_no_other_kernel_at_meta(state_of: StateOf) -> None:
    fake = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    fake: op_fake\n"
    kernel = fake.replace("fake: op_fake", "dispatch: {Meta: op_meta}")
    for declared, built in ((fake, kernel), (kernel, fake)):
        (row,) = drift(declared, built, state_of)
        assert row[:3] == ("drift-different", "demo::op", "Meta")


def test_the_alias_analysis_and_the_tags_of_a_definition(state_of: StateOf) -> None:
    plain = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n"
    tagged = f"{plain}    tags: [core]\n"
    pure = f"{plain}    alias_analysis: PURE_FUNCTION\n"
    assert drift(pure, plain, state_of) == drift(plain, pure, state_of) != []
    assert [row[0] for row in drift(pure, plain, state_of)] == ["drift-different"]
    assert [row[0] for row in drift(tagged, plain, state_of)] == ["drift-different"]
    assert drift(plain, tagged, state_of) == []  # says nothing of tags


def test_an_operator_of_another_name(state_of: StateOf) -> None:
    old, new = "demo::op(Tensor x, float by=1.) -> Tensor", "demo::opp(Tensor x, float by=1.) -> Tensor"
    rows = drift(DECLARED, DECLARED.replace(old, new), state_of)
    assert [row[:3] for row in rows] == [
        ("drift-undeclared", "demo::opp", None),
        ("drift-missing", "demo::op", None),
    ]
