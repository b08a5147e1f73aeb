"""Calls of random higher-order operators against a live PyTorch: the same rules run, with the same end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli import api
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.model.call import Context, TensorSpec
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.engine.call.higher_order.higher_order_cases import is_error

pytestmark = pytest.mark.live


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


# The note about two fake modes, against ``torch._guards.detect_fake_mode`` of a live PyTorch.


ASK = """
import json
import torch
from torch._guards import TracingContext, detect_fake_mode, tracing
from torch._subclasses.fake_tensor import FakeTensorMode

modes = [FakeTensorMode() for _ in range(3)]
inputs = [mode.from_tensor(torch.ones(1)) for mode in modes[:2]]


def answer():
    try:
        return [modes.index(detect_fake_mode(inputs)), ""]
    except AssertionError as error:
        return [None, str(error)]


outside = answer()
with tracing(TracingContext(modes[2])):
    print(json.dumps([outside, answer()]))
"""


@pytest.mark.live
def test_where_fake_modes_come_from() -> None:
    (mode, text), (in_tracing, tracing_text) = json.loads(in_pytorch.run([torch_python(), "-c", ASK]).stdout)
    assert mode is None
    for number in (0, 1):
        assert f"\nfake mode from fake tensor input {number} allocated at:\n" in text
    # it alone counts, or, up to PyTorch 2.9 at least, it is the first of those that are compared
    assert in_tracing == 2 or " from tracing context 0 doesn't match mode " in tracing_text
