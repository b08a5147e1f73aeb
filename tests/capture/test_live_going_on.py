"""A capture knows how the kernels go on that PyTorch's Python code makes; a live PyTorch says which ones really ran."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.capture.extensions import captured_extensions
from tests.capture.support import unpacked
from tests.capture.test_live import ask
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
CALLS_ITSELF = ("derived", "defined")
"""Their batching rule calls the operator again, as is assumed of every user's rule."""
WITH_BATCHING_RULE = (*CALLS_ITSELF, "other")
"""For the other operators PyTorch's fallback calls the operator once per slice."""


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A capture of these operators, without those of PyTorch, which take their time to read."""
    out = tmp_path_factory.mktemp("captured") / "cap.json"
    unpacked(captured_extensions() / "cap.json.gz", out)
    data = json.loads(out.read_text(encoding="utf-8"))
    out.write_text(json.dumps({**data, "operators": [], "higher_order_operators": []}), encoding="utf-8")
    return str(out)


@pytest.fixture(scope="module")
def live() -> Any:
    """Kernels that ran in a live PyTorch, and errors that it raised."""
    return json.loads(ask(str(HERE / "live_chains.py")).splitlines()[-1])


def resolved(captured: str, operator: str, name: str) -> Any:
    """The slots whose kernels run, those of backend fallbacks left out, and whether the call raises.

    How they go on is from the capture, but for users' functions: what `torch.library.impl` registered, and batching
    rules. Fake implementations, at Meta, compute, or there is none.
    """
    data = json.loads(call("resolve", f"chains::{operator}", captured, *OPTIONS[name], "--format", "json").out)
    steps = [step for stage in data["selections"] for step in stage["steps"]]
    kernels = [step for step in steps if step["entry"]["rule"] != "fallback"]
    not_known = {step["slot"] for step in kernels if step["redispatches_declared_at"] is None} - {"Meta"}
    users = {"CPU"} if operator == "defined" and name != "meta" else set()
    assert not_known == users | ({"FuncTorchBatched"} if name == "vmap" else set())
    assumed = {step["slot"] for step in kernels if step["why"] == "convention"}
    assert assumed == not_known - {"CPU"}
    return [[step["slot"] for step in kernels], data["end"]["kind"] == "error"]


FUNCTIONS = {
    "plain": {"CompositeExplicitAutograd": "live_chains.copy", "Autograd": None},
    "derived": {"FuncTorchBatched": "live_chains.<lambda>", "Autograd": "live_chains.<lambda>"},
    "writing": {"CPU": "live_chains.write", "ADInplaceOrView": None},
    "defined": {"CPU": "live_chains.copy", "Autograd": "live_chains.<lambda>"},
}
"""The user's functions that the capture must name; None where PyTorch's kernel has none."""


def test_the_functions_are_named(captured: str, live: Any) -> None:
    data = json.loads(call("register", captured, "--op", "chains::*", "--format", "json").out)
    for operator in data["operators"]:
        kernels = {row["key"]: row for row in operator["kernels"] if row["active"]}
        for key, function in FUNCTIONS.get(operator["operator"].partition("::")[2], {}).items():
            if key == "FuncTorchBatched" and not live["has_batching_rules"]:
                continue
            wraps = kernels[key]["wraps"]
            assert wraps["function"] == function, (operator["operator"], key)
            assert (wraps["place"] is None) is (function is None)
            assert function is None or wraps["place"].startswith("live_chains.py:")
    assert {operator["operator"] for operator in data["operators"]} >= {f"chains::{name}" for name in FUNCTIONS}


def test_the_kernels_that_run_are_those_of_pytorch(captured: str, live: Any) -> None:
    compared, with_rule = 0, WITH_BATCHING_RULE if live["has_batching_rules"] else ()
    for operator, calls in live["called"].items():
        for name, (ran, error) in calls.items():
            if name == "vmap" and operator not in with_rule:
                continue
            slots, raises = resolved(captured, operator, name)
            if name == "vmap" and operator not in CALLS_ITSELF:
                slots = slots[:1]  # the rest is assumed
            assert [slots, raises] == [ran, error is not None], (operator, name)
            compared += 1
    assert compared == 24 + len(with_rule)


def test_out_variants_refuse_gradients(captured: str, live: Any) -> None:
    if live["written"] is None:
        pytest.skip("this PyTorch has no out variants that are custom operators")
    tensors = ("--tensor", "cpu requires_grad", "--tensor", "cpu")
    end = json.loads(call("resolve", "chains::written", captured, *tensors, "--format", "json").out)["end"]
    assert end["error"]["text"] == live["written"]
