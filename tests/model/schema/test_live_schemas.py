"""Random schemas, whole and broken: what we read, print and refuse is what PyTorch reads, prints and refuses.

``DISPATCH_CLI_TORCH_PYTHON`` names a Python that has PyTorch; ``DISPATCH_CLI_LIVE_SCHEMAS`` says how many schemas,
``DISPATCH_CLI_LIVE_SEED`` repeats a run. A recording of PyTorch 2.13.0 judges without one.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import SystemRandom

import pytest

from tests import in_pytorch
from tests.model.schema.random_schemas import WRITTEN, Maker
from tests.model.schema.schema_answers import Answer, differences, not_printed_back
from tests.support import load_recording

COUNT = 6000
_BATCH = 20000


def agree(texts: list[str], judged: list[list[Answer]]) -> None:
    accepted = sum(answers[0][0] is None for answers in judged)
    assert 0.25 < accepted / len(texts) < 0.6
    assert differences(texts, judged) == []
    assert not_printed_back(judged) == []


def test_recorded_schemas() -> None:
    recorded = load_recording("2.13.0.schemas")["schemas"]
    assert len(recorded) >= 2000
    agree([text for text, _ in recorded], [[(a, b) for a, b in answers] for _, answers in recorded])


@pytest.mark.live
def test_random_schemas_against_live_pytorch() -> None:
    python = os.environ.get("DISPATCH_CLI_TORCH_PYTHON")
    if not python:
        pytest.skip("DISPATCH_CLI_TORCH_PYTHON names no Python with PyTorch")
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or SystemRandom().randrange(1, 1 << 31))
    print(f"seed {seed}")
    maker = Maker(seed)
    left = int(os.environ.get("DISPATCH_CLI_LIVE_SCHEMAS") or COUNT)
    while left > 0:
        texts = [*WRITTEN, *(maker.schema() for _ in range(min(left, _BATCH)))]
        left -= len(texts)
        command = [python, str(Path(__file__).with_name("live_schemas.py"))]
        run = in_pytorch.run(command, json.dumps(texts))
        agree(texts, [[(a, b) for a, b in answers] for answers in json.loads(run.stdout)])
