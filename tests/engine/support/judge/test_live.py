"""Random operators in a live PyTorch, in each context; `python -m tests.engine.support.judge` asks for more."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.engine.support.judge.ask import answers_of, base_of, version_of
from tests.engine.support.judge.compare import differing, judged, state_of, unfaithful
from tests.engine.support.judge.operators import operators

COUNT = 20


@pytest.mark.live
def test_random_operators(tmp_path: Path) -> None:
    python, seed = torch_python(), int(os.environ.get("DISPATCH_CLI_LIVE_SEED", "35"))
    version = version_of(python)
    made = [one._asdict() for one in operators(seed, COUNT, version)]
    answers = answers_of(python, made)
    state = state_of(made, base_of(version), tmp_path)
    cells = list(judged(state, answers, unfaithful(made)))
    assert differing(cells) == []
    assert sum(cell.result == "equal" for cell in cells) > 8 * COUNT
