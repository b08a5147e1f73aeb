"""New random operators in a live PyTorch, against their declarations; `python -m tests.custom_ops` asks for more."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.custom_ops.live import live_comparison

COUNT = 60


@pytest.mark.live
def test_random_operators(tmp_path: Path) -> None:
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED", random.randrange(1 << 32)))
    _, found = live_comparison(torch_python(), seed, COUNT, tmp_path)
    assert found.differences == [], f"DISPATCH_CLI_LIVE_SEED={seed} repeats them"
    assert sum(found.agreed.values()) > COUNT * 4
