"""Kernels that really run in a live PyTorch, over all of its own samples: the engine names the same."""

from __future__ import annotations

import re

import pytest

from dispatch_cli.engine.call.kernels.own_kernels import place_of
from dispatch_cli.model.names import OperatorName
from tests.capture.support import live_seed, torch_python
from tests.engine.call.judge.compare import Judged, Seen, table
from tests.engine.call.judge.run import CONTEXTS, HANDWRITTEN, run
from tests.engine.call.judge.run import judged as judged_in
from tests.engine.live_cases import live_side
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
    folder = once("judge", lambda folder: run(python, folder, CONTEXTS, operators=OPERATORS, seed=live_seed()))
    return judged_in(folder)


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
    tried = set(filter(is_there, HANDWRITTEN))
    assert len(tried) > 0.8 * len(HANDWRITTEN)
    assert tried - judged.seen == set()


def is_there(row: Seen) -> bool:
    """True if this PyTorch has the kernel; an old one lacks some."""
    source, key, operator = row
    dispatcher, name = live_side().state.dispatcher, OperatorName.parse(operator)
    registration = dispatcher.active(name).get(key) if name in dispatcher else None
    return registration is not None and place_of(registration.kernel.debug, key, operator)[0] == source
