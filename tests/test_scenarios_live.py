"""The scenarios inside PyTorch: it does, and says, what the commands at their heads say."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python
from tests.cli.support import call
from tests.test_scenarios import FIRST, SCENARIOS

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    script = Path(__file__).with_name("scenarios_in_pytorch.py")
    done = in_pytorch.run([torch_python(), str(script)])
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def explained(text: str, name: str) -> dict[str, Any]:
    result = call(
        "explain", "--from-error", "-", str(SCENARIOS / f"{name}.yaml"), "--format", "json", stdin=text.encode()
    )
    assert (result.code, result.err) == (0, "")
    answer: dict[str, Any] = json.loads(result.out)
    return answer


def ends(name: str, *more: str) -> str:
    """The kernel in which the call of a head ends, as the command's first sentence says."""
    first = FIRST.search((SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8"))
    assert first is not None
    command = [str(SCENARIOS.parents[1] / part) if part.endswith(".yaml") else part for part in shlex.split(first[1])]
    out = call(*command, *more).out
    kernel = re.search(r"^The call ends in (\w+) at ", out, re.MULTILINE)
    assert kernel is not None, out
    return kernel[1]


def test_a_backend_kernel_takes_the_math_kernel_away(found: dict[str, Any]) -> None:
    slots = found["slots"]
    assert [slots[name][0] for name in ("01", "02")] == ["math kernel", "math kernel"]
    assert slots["01"][1] in ("backend fallback", None)  # nothing in PyTorch 2.4
    assert slots["02"][1] == "backend fallback"


def test_a_default_comes_before_a_fallback(found: dict[str, Any]) -> None:
    assert found["slots"]["03"] == ["default backend kernel", "default backend kernel"]
    assert found["slots"]["03 uncovered"] == [None, "backend fallback"]


def test_the_default_leaves_gaps(found: dict[str, Any]) -> None:
    assert [found["slots"][name] for name in ("04", "04 nested")] == [[None, None], [None, None]]


def test_without_an_autograd_kernel_pytorch_warns(found: dict[str, Any]) -> None:
    kernel, warning = found["05"]
    data = explained(warning, "05_no_autograd_kernel")
    assert (kernel, data["explained"]["key"], data["reproduced"]) == ("scale_cpu", "AutogradCPU", True)
    assert [note["kind"] for note in data["explained"]["advice"]] == ["no-derivative"]


def test_a_factory_does_not_get_to_its_kernel(found: dict[str, Any]) -> None:
    (error,) = found["06"]
    data = explained(error, "06_factory")
    assert (data["key"], data["reproduced"]) == ("Undefined", True)
    assert [note["kind"] for note in data["explained"]["advice"]] == ["unreachable"]


def test_an_ambiguous_kernel_raises(found: dict[str, Any]) -> None:
    (error,) = found["08"]
    data = explained(error, "08_ambiguous")
    assert (data["key"], data["reproduced"]) == ("AutogradOther", True)
    assert [(note["kind"], note["culprits"]) for note in data["explained"]["advice"]] == [
        ("ambiguous", ["MkldnnCPU", "QuantizedCPU"])
    ]


def test_inference_mode_runs_another_kernel(found: dict[str, Any]) -> None:
    assert found["09 with autograd"] == ["shrink_decomposition"]
    assert found["09"] == [ends("09_inference_mode")] == ["shrink_lowering"]


def test_the_math_kernel_runs_for_sparse_tensors(found: dict[str, Any]) -> None:
    assert found["10"] == [ends("10_sparse_bypass")] == ["norm_math"]
    inference = ends("10_sparse_bypass", "--context", "inference_mode")
    assert found["10 in inference mode"] == [inference] == ["norm_sparse"]
