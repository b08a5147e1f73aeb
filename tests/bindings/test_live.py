"""New random histories against a live PyTorch of any version, whose universe is captured from it first.

Opt in by naming a Python that has PyTorch in ``DISPATCH_CLI_TORCH_PYTHON``. ``DISPATCH_CLI_LIVE_HISTORIES`` says how
many histories, ``DISPATCH_CLI_LIVE_SEED`` repeats a run.
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests import in_pytorch
from tests.bindings.histories import differences
from tests.capture.support import live_state
from tests.support import RECORDINGS

PYTHON = os.environ.get("DISPATCH_CLI_TORCH_PYTHON", "")
COUNT = int(os.environ.get("DISPATCH_CLI_LIVE_HISTORIES", "500"))

RUN = """
import gc, runpy, sys
import torch
gc.collect()
gc.freeze()  # the recorders collect garbage at every step; without PyTorch's own objects that is quick
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def record(script: str, out: Path, *arguments: str) -> Any:
    """Run a recorder with the live PyTorch; what it wrote."""
    command = [PYTHON, "-c", RUN, str(RECORDINGS / script), str(out), *arguments]
    done = in_pytorch.run(command, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(out.read_text(encoding="utf-8"))


@pytest.mark.live
@pytest.mark.skipif(not PYTHON, reason="DISPATCH_CLI_TORCH_PYTHON names no Python with PyTorch")
def test_new_histories_are_as_live_pytorch_has_them(tmp_path: Path) -> None:
    seed = os.environ.get("DISPATCH_CLI_LIVE_SEED") or str(random.SystemRandom().randrange(1, 1 << 31))
    data = live_state(PYTHON)["universe"]
    print(f"PyTorch {data['torch']}, seed {seed}")
    histories = record("record_sequences.py", tmp_path / "histories.json", seed, str(COUNT))["histories"]
    assert len(histories) == COUNT
    steps, problems = differences(Bindings(universes.from_data(data)), histories)
    assert problems == [], f"seed {seed}: {len(problems)} of {steps} steps differ"
    assert steps > 3 * COUNT
