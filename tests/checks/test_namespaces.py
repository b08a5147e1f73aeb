"""Namespaces that are PyTorch's, and namespaces that are nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.checks.check import Finding, Related, Severity
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings

OVER_PYTORCH = "dispatch: 1\nextends: [torch-2.15]\n"
MATH = "dispatch: {CompositeImplicitAutograd: math}"


def texts(state_of: StateOf, text: str) -> list[str]:
    """Messages of the two checks."""
    return [finding.message for finding in findings(state_of(text)) if finding.check.endswith("-namespace")]


def test_an_operator_in_a_namespace_of_pytorch(state_of: StateOf) -> None:
    text = f"{OVER_PYTORCH}operators:\n  - func: quantized::mine(Tensor x) -> Tensor\n    {MATH}\n"
    assert findings(state_of(text)) == (
        Finding(
            check="reserved-namespace",
            severity=Severity.WARNING,
            message="quantized::mine is defined in quantized, a namespace of PyTorch",
            operator="quantized::mine",
            span=Span("x.yaml", 4, 11),
            tip="define it in a namespace of your own",
            mark="quantized::mine",
            mark_follows=True,
        ),
    )


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        # whose namespace it is, is known over a state of PyTorch alone; but for prim
        ("dispatch: 1\noperators:\n  - {func: 'aten::mine(Tensor x) -> Tensor', " + MATH + "}\n", []),
        (
            "dispatch: 1\noperators:\n  - {func: 'prim::mine(Tensor x) -> Tensor', " + MATH + "}\n",
            ["prim::mine is defined in prim, a namespace of the TorchScript interpreter"],
        ),
        (
            OVER_PYTORCH + "libraries:\n  - {kind: DEF, namespace: aten, define: ['mine(Tensor x) -> Tensor']}\n",
            ["this TORCH_LIBRARY block is for aten, a namespace of PyTorch: PyTorch refuses a second one"],
        ),
        (
            OVER_PYTORCH + "libraries:\n  - {kind: FRAGMENT, namespace: aten, define: ['mine(Tensor x) -> Tensor']}\n",
            ["aten::mine is defined in aten, a namespace of PyTorch"],
        ),
        # kernels are welcome everywhere
        (OVER_PYTORCH + "libraries:\n  - {kind: IMPL, namespace: aten, dispatch_key: XLA, impl: {relu_: k}}\n", []),
        (OVER_PYTORCH + "operators:\n  - {func: 'demo::mine(Tensor x) -> Tensor', " + MATH + "}\n", []),
    ],
)
def test_whose_namespace_it_is(text: str, messages: list[str], state_of: StateOf) -> None:
    assert texts(state_of, text) == messages


def test_a_misspelt_namespace(state_of: StateOf) -> None:
    """Once for all its blocks; the kernels are dangling, too."""
    text = """\
dispatch: 1
libraries:
  - {kind: DEF, namespace: mylib, define: ["add() -> ()", "mul() -> ()"]}
  - {kind: IMPL, namespace: my_lib, dispatch_key: CPU, impl: {add: k}}
  - {kind: IMPL, namespace: my_lib, dispatch_key: CUDA, impl: {mul: k}}
"""
    results = findings(state_of(text))
    assert [finding.check for finding in results if "namespace" not in finding.check] == ["dangling-implementation"] * 2
    assert [finding for finding in results if "namespace" in finding.check] == [
        Finding(
            check="unknown-namespace",
            severity=Severity.WARNING,
            message=(
                "no operator is defined in my_lib, the namespace of this TORCH_LIBRARY_IMPL block; did you mean mylib?"
            ),
            span=Span("x.yaml", 4, 5),
            related=(Related("another block of this namespace", Span("x.yaml", 5, 5)),),
            tip="correct the name, or load the declarations that define operators in it as well",
            subject="my_lib",
        ),
    ]


@pytest.mark.parametrize(
    ("blocks", "messages"),
    [
        (
            ["{kind: IMPL, namespace: mylb, dispatch_key: CPU, impl: {}}"],
            ["no operator is defined in mylb, the namespace of this TORCH_LIBRARY_IMPL block; did you mean mylib?"],
        ),
        (
            ["{kind: FRAGMENT, namespace: other, define: []}"],
            ["no operator is defined in other, the namespace of this TORCH_LIBRARY_FRAGMENT block"],
        ),
        (
            ["{kind: FRAGMENT, namespace: mylb, impl: {add: k}}"],
            ["no operator is defined in mylb, the namespace of this TORCH_LIBRARY_FRAGMENT block; did you mean mylib?"],
        ),
        # names of their own, as torch.library.custom_op makes them: FRAGMENT blocks alone
        (["{kind: FRAGMENT, namespace: my_lib, define: ['mul() -> ()']}"], []),
        (
            [
                "{kind: FRAGMENT, namespace: my_lib, define: ['mul() -> ()'], impl: {mul: k}}",
                "{kind: FRAGMENT, namespace: my_lib, impl: {mul: {kernel: k, dispatch_key: CPU}}}",
                "{kind: IMPL, namespace: my_lib, dispatch_key: CUDA, impl: {mul: k}}",
            ],
            [],
        ),
        (["{kind: FRAGMENT, namespace: other, define: ['mul() -> ()']}"], []),
        (["{kind: FRAGMENT, namespace: mylib, define: ['mul() -> ()']}"], []),
        (["{kind: IMPL, namespace: _, dispatch_key: PrivateUse1, fallback: k}"], []),
    ],
)
def test_blocks_of_nobody(blocks: list[str], messages: list[str], state_of: StateOf) -> None:
    listed = "".join(f"  - {block}\n" for block in blocks)
    text = f"dispatch: 1\nlibraries:\n  - {{kind: DEF, namespace: mylib, define: ['add() -> ()']}}\n{listed}"
    assert texts(state_of, text) == messages


def test_a_snapshot_may_hold_libraries_of_the_users_own(state_of: StateOf) -> None:
    Path("snapshot.yaml").write_text(
        "dispatch: 1\nuniverse: torch-2.15\nsnapshot: true\noperators:\n"
        "  - {func: 'aten::op() -> ()', dispatch: {CompositeImplicitAutograd: k}}\n"
        "  - {func: 'mylib::op() -> ()', dispatch: {CompositeImplicitAutograd: k}}\n",
        encoding="utf-8",
    )
    text = f"""\
dispatch: 1
extends: [snapshot.yaml]
operators:
  - {{func: 'aten::mine() -> ()', {MATH}}}
  - {{func: 'mylib::mine() -> ()', {MATH}}}
"""
    assert texts(state_of, text) == ["aten::mine is defined in aten, a namespace of PyTorch"]


def test_only_what_is_asked_about(state_of: StateOf) -> None:
    text = f"""\
dispatch: 1
operators:
  - {{func: 'prim::one() -> ()', {MATH}}}
  - {{func: 'prim::two() -> ()', {MATH}}}
libraries:
  - {{kind: IMPL, namespace: nobody, dispatch_key: CPU, impl: {{}}}}
"""
    messages = [finding.message for finding in findings(state_of(text), "prim::two")]
    assert messages == ["prim::two is defined in prim, a namespace of the TorchScript interpreter"]


def test_a_library_that_defines_nothing_yet_is_known(state_of: StateOf) -> None:
    """`TORCH_LIBRARY(mylib, m)` itself says that the namespace is meant."""
    blocks = "{kind: KIND, namespace: mylib}, {kind: IMPL, namespace: mylib, dispatch_key: CPU, impl: {op: op_cpu}}"
    for kind, count in (("DEF", 0), ("FRAGMENT", 1)):
        text = f"dispatch: 1\nlibraries: [{blocks.replace('KIND', kind)}]\n"
        assert len(findings(state_of(text), select="unknown-namespace")) == count


@pytest.mark.parametrize(
    ("namespace", "more", "severities"),
    [
        ("mylibs", "", ["warning"]),
        ("torchvision", "", ["info"]),
        ("torchvision", "undecided: [{at: 'a.py:9:1', registers: definition, unknown: {namespace: NS}}]\n", []),
        ("torchvision", "undecided: [{at: 'a.py:9:1', registers: kernel, unknown: {namespace: NS}}]\n", ["info"]),
    ],
)
def test_a_namespace_in_sources_that_nothing_defines(
    namespace: str, more: str, severities: list[str], state_of: StateOf
) -> None:
    text = (
        "dispatch: 1\nextracted: true\nlibraries:\n"
        "  - {kind: DEF, namespace: mylib, at: 'a.py:1:1', define: ['op(Tensor x) -> Tensor']}\n"
        f"  - {{kind: IMPL, namespace: {namespace}, dispatch_key: CPU, at: 'a.py:2:1', impl: {{op: k}}}}\n"
    )
    results = findings(state_of(text + more), select="unknown-namespace")
    assert [finding.severity.value for finding in results] == severities


def test_a_fragment_in_sources_without_kernels_may_be_filled_by_functions(state_of: StateOf) -> None:
    block = "libraries:\n  - {kind: FRAGMENT, namespace: later, at: 'a.py:1:1'}\n"
    for head, count in (("dispatch: 1\nextracted: true\n", 0), ("dispatch: 1\n", 1)):
        assert len(findings(state_of(head + block), select="unknown-namespace")) == count
