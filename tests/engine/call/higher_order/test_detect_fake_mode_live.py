"""The note about two fake modes, against ``torch._guards.detect_fake_mode`` of a live PyTorch."""

from __future__ import annotations

import json

import pytest

from tests import in_pytorch
from tests.capture.support import torch_python

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
