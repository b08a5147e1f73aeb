"""Claims of the checks about calls, on a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python

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
