"""Findings about kernels without a schema, and the names that a misspelt one may have meant."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.support import call


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
