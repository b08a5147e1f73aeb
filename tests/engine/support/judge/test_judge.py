"""The verdicts of the support matrix against PyTorch: recorded, and live with a few random operators.

The recording has 48 random operators, 18 of them with kernels in C++, and 20 of PyTorch's own, in PyTorch 2.13. Of 749
random cells that were judged, the engine of before the recording had 21 wrong. To write it anew, with a Python that has
PyTorch 2.13 and NumPy (and g++):

    rm tests/recordings/torch-2.13.0.support.json.xz
    python -m tests.engine.support.judge PYTHON 50 91002 --record tests/recordings/torch-2.13.0.support.json.xz
    python -m tests.engine.support.judge PYTHON 20 91003 --own --record tests/recordings/torch-2.13.0.support.json.xz
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.engine.support.judge.compare import answers_of, judged, version_of
from tests.engine.support.judge.operators import operators
from tests.support import load_recording

RECORDING = "2.13.0.support"


def test_verdicts_are_what_happened(tmp_path: Path) -> None:
    runs = load_recording(RECORDING)
    cells = [cell for number, run in enumerate(runs) for cell in judged(**run, folder=tmp_path / str(number))]
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    results = [cell.result for cell in cells]
    assert results.count("equal") > 900
    assert results.count("not known") < 0.15 * results.count("equal")
    for outcome in ("works", "raises", "gradient", "wrong"):
        assert any(cell.live == outcome and cell.result == "equal" for cell in cells), outcome


@pytest.mark.live
def test_random_operators(tmp_path: Path) -> None:
    python, seed, count = torch_python(), int(os.environ.get("DISPATCH_CLI_LIVE_SEED", "35")), 12
    version = version_of(python)
    written = [operator._asdict() for operator in operators(seed, count, version)]
    cells = judged(version, written, answers_of(python, written), tmp_path)
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    assert sum(cell.result == "equal" for cell in cells) > 8 * count
