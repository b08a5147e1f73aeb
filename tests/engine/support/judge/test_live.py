"""Random operators in a live PyTorch, in each context; `python -m tests.engine.support.judge` asks for more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.engine.support.judge.compare import answers_of, judged, version_of
from tests.engine.support.judge.operators import operators

COUNT = 12


@pytest.mark.live
def test_random_operators(tmp_path: Path) -> None:
    python, seed = torch_python(), int(os.environ.get("DISPATCH_CLI_LIVE_SEED", "35"))
    version = version_of(python)
    written = [operator._asdict() for operator in operators(seed, COUNT, version)]
    cells = judged(version, written, answers_of(python, written), tmp_path)
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    assert sum(cell.result == "equal" for cell in cells) > 8 * COUNT
