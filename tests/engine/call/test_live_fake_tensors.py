"""Tensors that FakeTensorMode refuses, for PyTorch's own operators, in a live PyTorch."""

from __future__ import annotations

import os
import secrets
from collections import Counter
from pathlib import Path

import pytest

from dispatch_cli import api
from dispatch_cli.capture.write import state_text
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import Call, EndKind, ErrorKind
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.capture.support import live_state
from tests.engine.call.higher_order.test_live_higher_order import live_cases
from tests.engine.call.random_calls import is_error

pytestmark = pytest.mark.live


def reaches_fake_mode(call: Call) -> bool:
    """True if the mode gets this operator, and not those that it decomposes into."""
    error = call.end.error
    return call.end.kind is EndKind.HANDLER or (error is not None and error.kind is ErrorKind.MODES)


def test_which_tensors_are_refused(tmp_path: Path) -> None:
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or secrets.randbits(32))
    file = tmp_path / "capture.json"
    file.write_text("".join(state_text(live_state(), as_json=True)), encoding="utf-8")
    state = api.load_state([str(file)])
    wrong, ends = [], Counter[str]()
    for case in live_cases(seed, Path(__file__).with_name("live_fake_tensors.py"), 3000):
        tensors = [TensorSpec.parse(text) for text in case["tensors"]]
        contexts = [Context.parse(text) for text in case["contexts"]]
        call = simulate(state, OperatorName.parse(case["operator"]), tensors, contexts)
        if not reaches_fake_mode(call):
            ends["elsewhere"] += 1
            continue
        error = call.end.error
        raised = None if error is None else [error.type, error.text]
        ends["none" if error is None else error.text.split(" ")[0]] += 1
        if not is_error(raised, case["error"], error is None or error.whole):
            wrong.append((case, raised))
    assert wrong == [], f"seed {seed}: {len(wrong)} of {ends}"
    assert set(ends) == {"none", "elsewhere", "Mixing", "Please", "Can't"}, f"seed {seed}: {ends}"
    assert ends["elsewhere"] < sum(ends.values()) / 2, f"seed {seed}: {ends}"
