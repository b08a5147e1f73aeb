"""Calls that really run in a program: the recorder has every call, and the engine names the kernels."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.engine.call.judge.test_judge import SEED
from tests.trace.judge.run import judge, names, table

OWN_KERNELS = frozenset({"traced::double"})
"""Operators of the programs whose kernels do what is not known of a kernel: they call the operator again."""


@pytest.mark.live
def test_a_program(tmp_path: Path) -> None:
    """One program, chosen at random; `python -m tests.trace.judge` judges all."""
    python = torch_python()
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    judged = judge(python, random.Random(seed).choice(names()), tmp_path)
    printed, compared = table([judged]), judged.compared
    assert 0 < compared.seen == compared.recorded == compared.alike == compared.kernels, printed
    assert judged.disturbed.total() == 0, printed
    for tally in judged.engine.tallies.values():
        assert tally.first == tally.calls, printed
        assert {operator for _, operator in tally.differences()} <= OWN_KERNELS, printed
