"""Findings about kernels without a schema, and the names that a misspelt one may have meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.model.problem import Related
from dispatch_cli.model.span import Span
from tests.checks.helpers import StateOf, findings
from tests.cli.support import call

TIP = "define the operator, correct its name, or load the declarations that define it as well"


def test_every_key_is_named_and_the_first_place(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\noperators:\n  - {name: 'other::zzz', dispatch: {CUDA: c}}\n"
        "  - {name: 'demo::multiply', dispatch: {CompositeExplicitAutograd: a, CPU: b}}\n"
    )
    assert findings(state_of(text)) == (
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message="other::zzz has kernels at CUDA, but nothing defines it",
            operator="other::zzz",
            details=(("keys", "CUDA"),),
            span=Span("x.yaml", 3, 37),
            tip=TIP,
            mark="CUDA",
        ),
        Finding(
            check="dangling-implementation",
            severity=Severity.ERROR,
            message="demo::multiply has kernels at CPU, CompositeExplicitAutograd, but nothing defines it",
            operator="demo::multiply",
            details=(("keys", "CPU, CompositeExplicitAutograd"),),
            span=Span("x.yaml", 4, 41),
            tip=TIP,
            mark="CompositeExplicitAutograd",
        ),
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("aten::relU", "; did you mean aten::relu?"),
        ("atn::relu", "; did you mean aten::relu?"),
        ("aten::add.Tensr", "; did you mean aten::add.Tensor?"),
        ("aten::add", "; aten::add has the overloads Scalar, Scalar_out, Tensor, out"),
        ("aten::relu.Tensor", "; aten::relu has the overloads default (no name), out"),
        ("aten::fmod", "; aten::fmod has the overloads Scalar, Scalar_out, Tensor, Tensor_out"),
        ("aten::div", "; aten::div has the overloads Scalar, Scalar_mode, Scalar_mode_out, Scalar_out and 4 more"),
        ("aten::relu_x.out", "; did you mean aten::relu_?"),
        ("aten::softmx.int", "; did you mean aten::softmax.int?"),
        ("nobody::nothing_like_it", ""),
    ],
)
def test_what_was_meant(name: str, hint: str, state_of: StateOf) -> None:
    text = f"dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {{name: '{name}', dispatch: {{PrivateUse1: a}}}}\n"
    (finding,) = findings(state_of(text))
    assert finding.message == f"{name} has kernels at PrivateUse1, but nothing defines it{hint}"


def test_kernels_that_no_schema_fits(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - name: demo::scale
    dispatch:
      CPU: {kernel: scale_cpu, signature: "(Tensor _0, int _1) -> Tensor _0"}
      XLA: {kernel: scale_xla, signature: "(Tensor _0, SymInt _1) -> Tensor _0"}
      CUDA: {kernel: scale_cuda, signature: "(Tensor _0, float _1) -> Tensor _0"}
"""
    (finding,) = findings(state_of(text))
    assert finding == Finding(
        check="dangling-implementation",
        severity=Severity.ERROR,
        message=(
            "demo::scale has kernels at CPU, CUDA, XLA, but nothing defines it; its kernels have different "
            "signatures, and PyTorch refuses the second"
        ),
        operator="demo::scale",
        details=(
            ("keys", "CPU, CUDA, XLA"),
            ("CPU", "(Tensor _0, int _1) -> Tensor _0"),
            ("CUDA", "(Tensor _0, float _1) -> Tensor _0"),
        ),
        span=Span("x.yaml", 5, 7),
        related=(Related("the kernel with another signature", Span("x.yaml", 7, 13)),),
        tip=TIP,
        mark="CPU",
    )


def test_kernels_that_take_symint_are_kept_apart(state_of: StateOf) -> None:
    text = """\
dispatch: 1
operators:
  - name: demo::scale
    dispatch:
      CPU: {kernel: scale_cpu, signature: "(Tensor _0, int _1) -> Tensor _0"}
      XLA: {kernel: scale_xla, signature: "(Tensor _0, SymInt _1) -> Tensor _0"}
"""
    (finding,) = findings(state_of(text))
    assert finding.message == "demo::scale has kernels at CPU, XLA, but nothing defines it"


OVER_PYTORCH = "dispatch: 1\nextracted: true\nextends: [torch-2.15]\nlibraries:\n"
DEFINES_MINE = '  - {kind: DEF, namespace: mine, define: ["f(Tensor x) -> Tensor"], at: "a.cpp:1:1"}\n'


def in_sources(state_of: StateOf, name: str, head: str = OVER_PYTORCH) -> tuple[str, str]:
    """Severity and message of what is said of a kernel in sources that define mine::f."""
    namespace, _, own = name.rpartition("::")
    block = f'  - {{kind: IMPL, namespace: {namespace}, dispatch_key: CPU, at: "a.cpp:2:1", impl: {{{own}: k}}}}\n'
    (finding,) = findings(state_of(head + DEFINES_MINE + block), select="dangling-implementation")
    return finding.severity.value, finding.message.removeprefix(f"{name} has kernels at CPU, ")


@pytest.mark.parametrize(
    ("name", "severity", "outcome"),
    [
        ("mine::g", "error", "but nothing defines it"),
        ("mnie::f", "error", "but nothing defines it; did you mean mine::f?"),
        ("mines::f", "error", "but nothing defines it; did you mean mine::f?"),
        ("torchvision::nms", "info", "and is not defined here; it would be torchvision's"),
        ("aten::softmax", "error", "but nothing defines it; aten::softmax has the overloads int, int_out"),
        ("aten::add.Tensr", "warning", "but nothing defines it; did you mean aten::add.Tensor?"),
        ("aten::_cat", "warning", "but nothing defines it; did you mean aten::cat?"),
        ("aten::nothing_like_it", "warning", "but nothing defines it"),
        ("quantized::nothing_like_it", "info", "but nothing defines it"),
    ],
)
def test_whose_operators_are_in_sources(name: str, severity: str, outcome: str, state_of: StateOf) -> None:
    assert in_sources(state_of, name) == (severity, outcome)


def test_without_pytorch_its_operators_are_not_known(state_of: StateOf) -> None:
    head = OVER_PYTORCH.replace("extends: [torch-2.15]\n", "")
    assert in_sources(state_of, "aten::add", head) == ("info", "and is not defined here; it would be PyTorch's")


def test_a_fake_implementation_is_judged_over_pytorch(tmp_path: Path) -> None:
    """As PyTorch 2.13: it takes one of aten::add.Tensor, and refuses what is composite or not there."""
    path = tmp_path / "a.py"
    names = ("aten::add.Tensor", "aten::linear", "torchvision::nms", "aten::nothing_like_it", "mnie::f")
    path.write_text(
        'import torch\nlib = torch.library.Library("mine", "DEF")\nlib.define("f(Tensor x) -> Tensor")\n'
        + "".join(f'torch.library.register_fake("{name}", lambda *a: a)\n' for name in names)
        + 'torch.library.register_fake("aten::linear", lambda *a: a, allow_override=True)\n'
    )
    result = call(
        "check-invariants", str(path), "--base", "torch-2.15", "--config", "none", "--select", "refused-registration",
        "--format", "json",
    )  # fmt: skip
    rows = [(finding["severity"], finding["operator"]) for finding in json.loads(result.out)["findings"]]
    assert rows == [
        ("error", "aten::linear"),
        ("info", "torchvision::nms"),
        ("warning", "aten::nothing_like_it"),
        ("error", "mnie::f"),
        ("error", "aten::linear"),
    ]


def test_a_definition_that_is_left_out_where_it_is_there(state_of: StateOf) -> None:
    text = (
        "dispatch: 1\nextracted: true\nlibraries:\n"
        "  - {kind: FRAGMENT, namespace: mine, define: [{func: 'f(Tensor x) -> Tensor', "
        "when: \"name not in torch.library._defs\"}], at: 'a.py:1:1'}\n"
        "  - {kind: IMPL, namespace: mine, dispatch_key: CPU, at: 'a.py:2:1', impl: {f: k}}\n"
    )
    assert findings(state_of(text), select="dangling-implementation") == ()


def test_an_operator_of_the_library_that_lacks_the_kernel(state_of: StateOf) -> None:
    """vllm-ascend defines store_kv_block_metadata, and registers its fake kernel as store_kv_block_pre."""
    text = (
        'dispatch: 1\noperators:\n  - {func: "lib::store_block_metadata(Tensor x) -> Tensor", dispatch: {CUDA: k}}\n'
        '  - {func: "lib::store_block(Tensor x) -> Tensor", dispatch: {CUDA: k, Meta: m}}\n'
        "  - {name: lib::store_block_pre, dispatch: {Meta: m}}\n"
    )
    (finding,) = findings(state_of(text), select="dangling-implementation")
    assert finding.message.endswith("; did you mean lib::store_block_metadata, which has no kernel at Meta?")


ASKING = """
import torch
lib = torch.library.Library("ns", "FRAGMENT")
def has_schema(name):
    try:
        torch._C._dispatch_find_schema_or_throw(f"ns::{name}", "")
    except RuntimeError:
        return False
    return True
def derivative(name):
    if not (has_schema(name) and has_schema(f"{name}_backward")):
        return
    torch.library.register_autograd(f"ns::{name}", lambda ctx, g: g)
derivative("built")
derivative("gone")
if hasattr(torch.ops.ns, "gone"):
    lib.impl("gone", lambda x: x.clone(), "CUDA")
"""
BUILT = """
#if WITH_NS
TORCH_LIBRARY_FRAGMENT(ns, m) {
  m.def("built(Tensor x) -> Tensor");
  m.def("built_backward(Tensor x) -> Tensor");
}
#endif
"""


def test_what_asks_for_its_operator_is_not_there_without_it(tmp_path: Path) -> None:
    """PyTorch runs such a file with the operators and without them."""
    (tmp_path / "a.py").write_text(ASKING, "utf-8")
    (tmp_path / "b.cpp").write_text(BUILT, "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--select", "DC101", "--format", "json").out)
    assert report["findings"] == []
    (built,) = json.loads(call("extract", str(tmp_path), "--format", "json").out)["operators"][:1]
    assert (built["name"], built["when"]) == ("ns::built", "WITH_NS")


def test_what_asks_that_it_is_not_there_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(ASKING.replace("if hasattr", "if not hasattr"), "utf-8")
    report = json.loads(call("check-invariants", str(tmp_path), "--select", "DC101", "--format", "json").out)
    assert [finding["operator"] for finding in report["findings"]] == ["ns::gone"]
