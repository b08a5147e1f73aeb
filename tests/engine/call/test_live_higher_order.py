"""Calls of random higher-order operators against a live PyTorch: the same rules run, with the same end."""

from __future__ import annotations

import json
import secrets
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import api
from dispatch_cli.capture.run import run_probe
from dispatch_cli.engine.call.higher_order import simulate_higher_order
from dispatch_cli.engine.call.higher_order_trace import Answer, Asker, HigherOrderCall, HigherOrderHop
from dispatch_cli.engine.call.trace import EndKind, ErrorKind
from dispatch_cli.engine.higher_order import is_autograd_not_implemented
from dispatch_cli.engine.state import State
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.higher_order import RuleKind
from tests.capture.support import torch_python

pytestmark = pytest.mark.live

COUNT = 1500


def live_cases(seed: int) -> list[dict[str, Any]]:
    script = Path(__file__).with_name("live_higher_order.py")
    command = [torch_python(), str(script), str(seed), str(COUNT)]
    answer = subprocess.run(command, capture_output=True, check=True, stdin=subprocess.DEVNULL)
    cases: list[dict[str, Any]] = json.loads(answer.stdout)
    return cases


def loaded(cases: list[dict[str, Any]], tmp_path: Path) -> State:
    file = tmp_path / "operators.json"
    document = {
        "dispatch": 1,
        "universe": run_probe(torch_python())["universe"],
        "higher_order_operators": [case["operator"] for case in cases],
        "modes": {"Supporting": {"supports_higher_order_operators": True}},
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    return api.load_state([str(file)])


def ran(hop: HigherOrderHop) -> Iterator[str]:
    """The rules that a step runs, by the names that the script notes."""
    for asked in hop.asked:
        if asked.asker is Asker.MODE_ITSELF:
            yield f"itself:{asked.name}"
        elif asked.rule is not None and (asked.answer is Answer.HANDLES or asked.rule.not_implemented):
            yield asked.rule.kernel
    rule = hop.rule
    if hop.asked or rule is None or is_autograd_not_implemented(rule.kernel):
        return
    if rule.kind is not RuleKind.AUTOGRAD or hop.needs_gradient:
        yield rule.kernel


def ours(call: HigherOrderCall) -> dict[str, Any]:
    """The same as the script says."""
    rules = [name for hop in call.hops for name in ran(hop)]
    error = call.end.error
    fake = call.fake_modes
    if error is not None and error.kind is ErrorKind.ENDLESS:
        told: list[str] | None = ["Endless", ""]
    else:
        told = None if error is None else [error.type, error.text.split("\n")[0]]
    return {"ran": rules, "error": told, "fake": None if fake is None else without_names(fake.error.text)}


def without_names(text: str) -> str:
    """Fake modes without the names that our texts have in the place of addresses."""
    return text.replace("<FakeTensorMode object A>", "<FakeTensorMode object>").replace(
        "<FakeTensorMode object B>", "<FakeTensorMode object>"
    )


def test_random_calls(tmp_path: Path) -> None:
    seed = secrets.randbits(32)
    cases = live_cases(seed)
    state = loaded(cases, tmp_path)
    different = []
    ends = set()
    for case in cases:
        operator = state.higher_order_operator(case["operator"]["name"])
        assert operator is not None
        tensors = [TensorSpec.parse(text) for text in case["tensors"]]
        contexts = [Context.parse(text) for text in case["contexts"]]
        call = simulate_higher_order(state, operator, tensors, contexts)
        found = ours(call)
        ends.add(EndKind.KERNEL if call.end.error is None else call.end.error.kind)
        expected = {field: case[field] for field in ("ran", "error", "fake")}
        if case["error"] == ["Endless", ""]:
            # The simulation stops where the call is as it was before.
            expected["ran"] = expected["ran"][: len(found["ran"])]
        if call.end.error is not None and call.end.error.kind is ErrorKind.MODES:
            # The script's rules do not look at the fake modes, as those of PyTorch do: nothing follows.
            assert found["error"] == ["AssertionError", call.end.error.text]
            found["error"] = expected["error"]
            expected["ran"] = expected["ran"][: len(found["ran"])]
        if found != expected:
            different.append((case["operator"], case["tensors"], case["contexts"], found, expected))
    assert different == [], f"seed {seed}: {len(different)} of {len(cases)}"
    assert {EndKind.KERNEL, ErrorKind.PYTHON, ErrorKind.NO_KERNEL, ErrorKind.MODES} <= ends
