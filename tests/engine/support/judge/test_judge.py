"""The verdicts of the support matrix against PyTorch: recorded, and live with a few of the recorded operators.

The recording has 128 operators of random libraries, as authors write them in Python and C++, the rows of
`tests.engine.support.test_support` as libraries, and 20 of PyTorch's own.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.engine.support.judge.compare import answers_of, judged, version_of
from tests.support import load_recording

RECORDING = "2.13.0.support"
COUNT = 8
"""Number of operators that a live PyTorch is asked about."""


@pytest.mark.parametrize(("number", "equal", "not_known"), [(0, 650, 60), (1, 200, 80), (2, 1100, 80), (3, 550, 90)])
def test_verdicts_are_what_happened(number: int, equal: int, not_known: int, tmp_path: Path) -> None:
    cells = judged(**load_recording(RECORDING)[number], folder=tmp_path / "sources")
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    results = [cell.result for cell in cells]
    assert results.count("equal") > equal
    assert results.count("not known") < not_known
    for outcome in ("works", "raises", "gradient", "wrong"):
        assert number == 1 or any(cell.live == outcome and cell.result == "equal" for cell in cells), outcome


@pytest.mark.live
def test_recorded_operators(tmp_path: Path) -> None:
    python, seed = torch_python(), os.environ.get("DISPATCH_CLI_LIVE_SEED", "35")
    version = version_of(python)
    dice, runs = random.Random(seed), load_recording(RECORDING)
    operators = dice.sample(dice.choice([run["operators"] for run in runs if run["operators"]]), COUNT)
    cells = judged(version, operators, answers_of(python, operators), tmp_path)
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == [], f"seed {seed}"
    assert sum(cell.result == "equal" for cell in cells) > 8 * COUNT
