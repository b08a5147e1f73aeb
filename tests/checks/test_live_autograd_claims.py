"""Claims of the checks of autograd and reach, on a live PyTorch, and that they are about the same operators."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings

pytestmark = pytest.mark.live

MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
SAID = {
    f"SparseCPU, {MATH}": {"ambiguous-autogradother": "warning", "sparse-bypass": "warning"},
    f"NestedTensorCPU, Autograd=fallthrough, {MATH}": {"sparse-bypass": "warning"},
    f"MTIA, {MATH}": {"sparse-bypass": "warning"},
    f"HIP, {MATH}": {"sparse-bypass": "warning"},
    f"XPU, {MATH}": {"math-kernel-displaced": "warning"},
    f"NestedTensorCPU, {MATH}": {"math-kernel-displaced": "error"},
    f"CPU, {MATH}": {"math-kernel-displaced": "warning"},
    f"MkldnnCPU, {MATH}": {"ambiguous-autogradother": "error"},
    f"SparseCPU, HIP, {MATH}": {"ambiguous-autogradother": "error", "sparse-bypass": "warning"},
    "Autograd": {"autograd-only": "warning"},
}
"""Findings about the operators that the script makes."""


@pytest.fixture(scope="module")
def live() -> Any:
    script = Path(__file__).with_name("live_autograd_claims.py")
    done = in_pytorch.run([torch_python(), str(script)])
    return json.loads(done.stdout)


def test_calls(live: Any) -> None:
    assert live["bypassed"] == {
        "sparse": MATH,
        "sparse in inference mode": "SparseCPU",
        "nested": MATH,
        "nested in inference mode": "NestedTensorCPU",
        "mtia": MATH,
        "hip": MATH,
        "xpu": "XPU",
    }
    assert live["displaced"] == {
        "nested": "could not run",
        "cpu": "CPU",
        "backward": "warns",
        "of other operators": [[0.25], "warns"],
    }
    assert set(live["ambiguous"].values()) == {"ambiguous"}
    export = {"export": "could not run"} if "export" in live["alone"] else {}
    assert live["alone"] == {"in inference mode": "could not run", "otherwise": "Autograd", "skipped": DEFAULT} | export
    assert live["factory"] == "no tensors"


def test_findings_in_pytorch(live: Any) -> None:
    # PyTorch 2.4 has neither the operator, nor a way to register a fallback from Python
    assert live["in PyTorch"].pop("avg_pool1d.out", "runs") == "runs"
    assert live["in PyTorch"].pop("convolution under a fallback", "not implemented") == "not implemented"
    assert live["in PyTorch"] == {"avg_pool2d.out": "refuses gradients", "max_pool2d's kernel at Autograd": "runs"}
    assert live["python"]["inference"] == ["aten.hardshrink.default"]
    assert "aten.hardshrink.default" not in live["python"]["grad"]
    assert "aten.where.self" in live["python"]["grad"]


@pytest.mark.parametrize("keys", SAID)
def test_what_is_said_of_them(keys: str, state_of: StateOf) -> None:
    kernels = ", ".join(f"{key.replace('=', ': ') if '=' in key else f'{key}: k'}" for key in keys.split(", "))
    text = f"dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{{kernels}}}\n"
    results = findings(state_of(text), select="DC2")
    assert {finding.check: finding.severity.value for finding in results} == SAID[keys]
