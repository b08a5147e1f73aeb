"""A capture knows how the kernels go on that PyTorch's Python code makes; a live PyTorch says which ones really ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.support import torch_python
from tests.capture.test_live import run_python
from tests.cli.support import call

pytestmark = pytest.mark.live

HERE = Path(__file__).parent
OPTIONS = {
    "cpu": ("--tensor", "cpu"),
    "cpu requires_grad": ("--tensor", "cpu requires_grad"),
    "meta": ("--tensor", "meta"),
    "inference_mode": ("--tensor", "cpu", "--context", "inference_mode"),
    "vmap": ("--tensor", "cpu batched", "--context", "vmap"),
}
WITH_BATCHING_RULE = ("derived", "defined")
"""Of the others PyTorch's fallback calls the operator for every slice."""


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of these operators, without those of PyTorch, which take their time to read."""
    out = tmp_path_factory.mktemp("captured") / "cap.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(HERE))
        result = call("capture", "--python", torch_python(), "--import", "live_chains", "-o", str(out))
    assert result.code == 0, result.err
    data = json.loads(out.read_text(encoding="utf-8"))
    out.write_text(json.dumps({**data, "operators": [], "higher_order_operators": []}), encoding="utf-8")
    return str(out)


def resolved(captured: str, operator: str, name: str) -> Any:
    """The slots whose kernels run, those of backend fallbacks left out, and whether the call raises.

    How they go on is from the capture, but for what `torch.library.impl` registered.
    """
    data = json.loads(call("resolve", f"chains::{operator}", captured, *OPTIONS[name], "--format", "json").out)
    steps = [step for stage in data["selections"] for step in stage["steps"]]
    kernels = [step for step in steps if step["entry"]["rule"] != "fallback"]
    not_known = {step["slot"] for step in kernels if step["redispatches_declared_at"] is None}
    assert not_known == ({"CPU"} if operator == "defined" and name != "meta" else set())
    return [[step["slot"] for step in kernels], data["end"]["kind"] == "error"]


def test_the_kernels_that_run_are_those_of_pytorch(captured: str) -> None:
    live = json.loads(run_python(torch_python(), str(HERE / "live_chains.py")).splitlines()[-1])
    compared = 0
    for operator, calls in live.items():
        for name, expected in calls.items():
            if name != "vmap" or operator in WITH_BATCHING_RULE:
                assert resolved(captured, operator, name) == expected, (operator, name)
                compared += 1
    assert compared == 22
