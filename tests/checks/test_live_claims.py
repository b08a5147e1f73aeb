"""Claims of the checks about calls, autograd and reach, on a live PyTorch, and that they say it of the same ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def live() -> dict[str, Any]:
    """Answers of a live PyTorch."""
    script = Path(__file__).with_name("live_claims.py")
    done = in_pytorch.run([torch_python(), str(script)])
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def test_writes_go_uncounted_without_adinplaceorview(live: dict[str, Any]) -> None:
    assert live["writes"] == {"by hand": 0, "counted": 1}


def test_a_fallthrough_at_conjugate_lets_the_bit_through(live: dict[str, Any]) -> None:
    assert live["conjugates"] == {"plain": False, "falling": True}


def test_batching_rules_that_are_not_reached(live: dict[str, Any]) -> None:
    assert live["batching"] == {"factory": "runs CompositeExplicitAutograd", "both": "runs FuncTorchBatched"}


def test_python_chooses_otherwise(live: dict[str, Any]) -> None:
    assert live["python"] == {
        "nested in C++": "True",
        "nested in Python": "could not find kernel",
        "AutogradMeta": "DispatchKey.AutogradMeta",
    }


def test_forms_that_pytorch_lacks(live: dict[str, Any]) -> None:
    lacking = {name for name, outcome in live["gaps"].items() if outcome == "could not run"}
    assert lacking == {"cos_", "fill", "pow_"}
    assert {outcome for name, outcome in live["gaps"].items() if name not in lacking} == {"runs"}


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
def autograd() -> Any:
    script = Path(__file__).with_name("live_autograd_claims.py")
    done = in_pytorch.run([torch_python(), str(script)])
    return json.loads(done.stdout)


def test_calls(autograd: Any) -> None:
    assert autograd["bypassed"] == {
        "sparse": MATH,
        "sparse in inference mode": "SparseCPU",
        "nested": MATH,
        "nested in inference mode": "NestedTensorCPU",
        "mtia": MATH,
        "hip": MATH,
        "xpu": "XPU",
    }
    assert autograd["displaced"] == {
        "nested": "could not run",
        "cpu": "CPU",
        "backward": "warns",
        "of other operators": [[0.25], "warns"],
    }
    assert set(autograd["ambiguous"].values()) == {"ambiguous"}
    alone = {"in inference mode": "could not run", "otherwise": "Autograd", "skipped": DEFAULT}
    export = {"export": "could not run"} if "export" in autograd["alone"] else {}
    assert autograd["alone"] == alone | export
    assert autograd["factory"] == "no tensors"


def test_findings_in_pytorch(autograd: Any) -> None:
    # PyTorch 2.4 has neither the operator, nor a way to register a fallback from Python
    assert autograd["in PyTorch"].pop("avg_pool1d.out", "runs") == "runs"
    assert autograd["in PyTorch"].pop("convolution under a fallback", "not implemented") == "not implemented"
    assert autograd["in PyTorch"] == {"avg_pool2d.out": "refuses gradients", "max_pool2d's kernel at Autograd": "runs"}
    assert autograd["python"]["inference"] == ["aten.hardshrink.default"]
    assert "aten.hardshrink.default" not in autograd["python"]["grad"]
    assert "aten.where.self" in autograd["python"]["grad"]


@pytest.mark.parametrize("keys", SAID)
def test_what_is_said_of_them(keys: str, state_of: StateOf) -> None:
    kernels = ", ".join(f"{key.replace('=', ': ') if '=' in key else f'{key}: k'}" for key in keys.split(", "))
    text = f"dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: {{{kernels}}}\n"
    results = findings(state_of(text), select="DC2")
    assert {finding.check: finding.severity.value for finding in results} == SAID[keys]
