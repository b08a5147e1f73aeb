"""Kernels that really run in a live PyTorch, over all of its own samples: the engine names the same."""

from __future__ import annotations

import re

import pytest

from tests.capture.support import live_seed, torch_python
from tests.engine.call.judge.compare import Judged, table
from tests.engine.call.judge.run import CONTEXTS, HANDWRITTEN, has_modules, run
from tests.engine.call.judge.run import judged as judged_in
from tests.once import once

OPERATORS = 5
"""As many of PyTorch's 660 or so are tried here, chosen at random; `python -m tests.engine.call.judge` tries all."""
KNOWN = (
    # A tensor without dimensions is returned as it is.
    (r"FuncTorchBatched .*: goes no further.*", r"aten::(transpose|squeeze)_?\.(int|dims)|aten::transpose_"),
)
"""Differences that are known, each with the operators that have it."""


@pytest.fixture(scope="module")
def judged() -> Judged:
    python = torch_python()
    if not has_modules(python):
        pytest.skip("PyTorch's own samples need NumPy")
    return judged_in(once("judge", lambda folder: run(python, folder, CONTEXTS, operators=OPERATORS, seed=live_seed())))


@pytest.mark.live
@pytest.mark.parametrize("context", (*CONTEXTS, "others"))
def test_same_kernels(judged: Judged, context: str) -> None:
    tally = judged.tallies[context]
    printed = table({context: tally})
    assert tally.first == tally.calls, printed
    assert tally.chain > 0.995 * tally.calls, printed
    assert [difference for difference in tally.differences() if not is_known(*difference)] == [], printed


def is_known(cause: str, operator: str) -> bool:
    return any(re.fullmatch(pattern, cause) and re.fullmatch(names, operator) for pattern, names in KNOWN)


@pytest.mark.live
def test_own_kernels_were_tried(judged: Judged) -> None:
    assert HANDWRITTEN - judged.seen == set()
