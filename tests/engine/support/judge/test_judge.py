"""The verdicts of the support matrix against PyTorch: recorded, and live with a few of the recorded operators.

The recording has 128 operators of random libraries, as authors write them in Python and C++, the rows of
`tests.engine.support.test_support` as libraries, and 20 of PyTorch's own.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.capture.support import live_sample, live_seed, torch_python
from tests.engine.support.judge.compare import answers_of, judged, version_of
from tests.support import load_recording

RECORDING = "2.13.0.support"
COUNT = 8
"""Number of operators that a live PyTorch is asked about."""


@pytest.mark.parametrize(("number", "equal", "not_known"), [(0, 650, 70), (1, 200, 80), (2, 1000, 100), (3, 550, 90)])
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
    """Some of one run; ``python -m tests.recordings P support`` asks about all."""
    python = torch_python()
    run = random.Random(live_seed()).choice([run for run in load_recording(RECORDING) if run["operators"]])
    operators = live_sample(run["operators"], COUNT)
    cells = judged(version_of(python), operators, answers_of(python, operators), tmp_path)
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    assert sum(cell.result == "equal" for cell in cells) > 8 * COUNT
