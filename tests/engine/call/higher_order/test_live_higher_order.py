"""Calls of random higher-order operators against a live PyTorch: the same rules run, with the same end."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import api
from dispatch_cli.capture.write import state_text
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.trace import EndKind, ErrorKind
from dispatch_cli.model.call import Context, TensorSpec
from tests import in_pytorch
from tests.capture.support import live_state, live_universe, torch_python
from tests.engine.call.higher_order.higher_order_cases import declarations, differences, is_error

pytestmark = pytest.mark.live

COUNT = 1500


SCRIPT = Path(__file__).with_name("live_higher_order.py")


def live_cases(seed: int, script: Path = SCRIPT, count: int = COUNT) -> list[dict[str, Any]]:
    command = [torch_python(), str(script), str(seed), str(count)]
    answer = in_pytorch.run(command)
    cases: list[dict[str, Any]] = json.loads(answer.stdout)
    return cases


def test_random_calls(tmp_path: Path) -> None:
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or secrets.randbits(32))
    cases = live_cases(seed)
    file = tmp_path / "operators.json"
    document = declarations(live_universe(), cases)
    file.write_text(json.dumps(document), encoding="utf-8")
    different, ends = differences(api.load_state([str(file)]), cases)
    assert different == [], f"seed {seed}: {len(different)} of {len(cases)}"
    assert {EndKind.KERNEL, ErrorKind.PYTHON, ErrorKind.NO_KERNEL, ErrorKind.MODES, ErrorKind.IMPL} <= ends


def test_calls_of_its_own_operators(tmp_path: Path) -> None:
    """The rule of PyTorch's own operators that gets a call, in random contexts."""
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or secrets.randbits(32))
    file, overlay = tmp_path / "capture.json", tmp_path / "overlay.json"
    file.write_text("".join(state_text(live_state(), as_json=True)), encoding="utf-8")
    modes = {"Supporting": {"supports_higher_order_operators": True}}
    document = {"dispatch": 1, "extends": ["./capture.json"], "modes": modes}
    overlay.write_text(json.dumps(document), encoding="utf-8")
    state = api.load_state([str(overlay)])
    known = {operator.name for operator in state.higher_order_operators}
    cases = live_cases(seed, SCRIPT.with_name("live_own_higher_order.py"), 800)
    # What the script imports besides torch may bring operators that a capture does not have.
    cases = [case for case in cases if case["operator"]["name"] in known]
    different, ends = differences(state, cases)
    assert different == [], f"seed {seed}: {len(different)} of {len(cases)}"
    assert len(cases) > 500
    assert {EndKind.KERNEL, EndKind.HANDLER, ErrorKind.PYTHON, ErrorKind.NO_KERNEL} <= ends


def test_call_torchbind() -> None:
    """The example, called for real in every context that it speaks of: the same end, and the same backward error."""
    script = Path(__file__).with_name("live_call_torchbind.py")
    answer = in_pytorch.run([torch_python(), str(script)])
    answers = json.loads(answer.stdout)
    state = api.load_state(["examples/call_torchbind.yaml"])
    operator = state.higher_order_operator("call_torchbind")
    assert operator is not None
    wrong, deferred = [], None
    for tensors, contexts, error in answers["calls"]:
        specs, entered = map(TensorSpec.parse, tensors), map(Context.parse, contexts)
        call = simulate_higher_order(state, operator, tuple(specs), tuple(entered))
        ending = None if call.end.error is None else [call.end.error.type, call.end.error.text]
        deferred = deferred or call.deferred
        if not is_error(call.end.error, ending, error):
            wrong.append((tensors, contexts, ending, error))
    assert wrong == []
    assert len(answers["calls"]) == 14
    assert answers["backward"] == ["RuntimeError", deferred]
