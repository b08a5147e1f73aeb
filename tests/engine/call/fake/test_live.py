"""Calls with fake tensors on a live PyTorch: FakeTensorMode does what the engine says.

A sample of what ``python -m tests.engine.call.fake PYTHON`` does with all operators.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from dispatch_cli.engine.history.state import State
from tests.capture.support import torch_python
from tests.engine.call.fake.__main__ import captured, random_verdicts, table
from tests.engine.call.fake.judge import judge, live_answers

pytestmark = pytest.mark.live
OPERATORS, RANDOM_OPERATORS = 240, 60


@pytest.fixture(scope="module")
def seed() -> str:
    return os.environ.get("DISPATCH_CLI_LIVE_SEED") or str(random.SystemRandom().randrange(1, 1 << 31))


@pytest.fixture(scope="module")
def live() -> tuple[State, Any]:
    return captured(torch_python())


def test_operators_of_pytorch(live: tuple[State, Any], seed: str) -> None:
    """The calls of a kernel that is written by hand are not known, so a few calls may differ."""
    state, _ = live
    names = random.Random(seed).sample(state.dispatcher.names(), OPERATORS)
    kinds = ["plain", "requires_grad", "inference_mode", "mixed"]
    verdicts = [*judge(state, live_answers(torch_python(), names, kinds, seed))]
    judged = [verdict for verdict in verdicts if verdict.judged]
    assert len(judged) > OPERATORS, f"seed {seed}"
    assert sum(verdict.agrees for verdict in judged) >= 0.98 * len(judged), f"seed {seed}\n{table(verdicts)}"


def test_sparse_tensors(live: tuple[State, Any], seed: str) -> None:
    """If a kernel that is written by hand calls others, the engine says that it does not know; it is not wrong."""
    state, _ = live
    names = random.Random(seed).sample(state.dispatcher.names(), OPERATORS)
    verdicts = [*judge(state, live_answers(torch_python(), names, ["sparse"], seed))]
    judged = [verdict for verdict in verdicts if verdict.judged]
    open_ends = [verdict for verdict in verdicts if verdict.left_open]
    assert len(judged) > OPERATORS / 2, f"seed {seed}"
    assert sum(verdict.agrees for verdict in judged) >= 0.98 * len(judged), f"seed {seed}\n{table(verdicts)}"
    assert len(open_ends) <= 0.2 * len(judged), f"seed {seed}\n{table(verdicts)}"


def test_random_operators(live: tuple[State, Any], seed: str) -> None:
    kinds = ["plain", "alone", "requires_grad", "inference_mode", "sparse", "mixed"]
    verdicts = [*random_verdicts(torch_python(), live[1], random.Random(seed), RANDOM_OPERATORS, kinds)]
    assert len(verdicts) == RANDOM_OPERATORS * len(kinds)
    assert [verdict for verdict in verdicts if not verdict.agrees] == [], f"seed {seed}\n{table(verdicts)}"
