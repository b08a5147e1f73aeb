"""Random calls on a live PyTorch: the same kernels with the same key sets, or the same error."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from dispatch_cli import universes
from tests.capture.support import live_universe, torch_python
from tests.engine.call.compare_calls import compare

SIZE = (500, 8)
SEED = "DISPATCH_CLI_LIVE_SEED"


@pytest.mark.live
def test_random_calls(tmp_path: Path) -> None:
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    python = torch_python()
    universe = universes.from_data(live_universe(python))
    total, wrong, unmade, endings = compare(python, universe, seed, SIZE, tmp_path)
    assert wrong == [], f"seed {seed}: {len(wrong)} of {total}\n" + "\n".join(wrong[:20])
    assert unmade < total / 5, f"seed {seed}"
    assert min(endings["ended"], endings["error"]) > total / 10, f"seed {seed}: {endings}"
