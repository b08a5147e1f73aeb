"""What really runs in a live PyTorch, over all of its own samples: the engine names the same kernels."""

from __future__ import annotations

import re

import pytest

from dispatch_cli.engine.call.handwritten import CALLS_OTHERS, COMPUTES
from tests.capture.support import torch_python
from tests.engine.call.judge.compare import Judged, table
from tests.engine.call.judge.run import CONTEXTS, has_compiler, has_modules, run

KNOWN = {
    r".*RegisterBackendSelect\.cpp.*": "a factory's layout decides, too",
    r"AutogradCPU .*VariableType_\d+\.cpp: goes no further.*": "its forward derivative is computed by other operators",
}
"""Causes of differences that are known, as patterns."""


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    python = torch_python()
    if not has_compiler():
        pytest.skip("there is no C++ compiler")
    if not has_modules(python):
        pytest.skip("PyTorch's own samples need NumPy")
    return run(python, tmp_path_factory.mktemp("judge"), CONTEXTS)


@pytest.mark.live
@pytest.mark.parametrize("context", CONTEXTS)
def test_same_kernels(judged: Judged, context: str) -> None:
    tally = judged.tallies[context]
    said = table({context: tally})
    assert tally.first == tally.calls, said
    assert tally.chain > 0.999 * tally.calls, said
    unknown = [cause for cause in tally.causes if not any(re.fullmatch(pattern, cause) for pattern in KNOWN)]
    assert unknown == [], said


@pytest.mark.live
def test_handwritten_kernels_were_tried(judged: Judged) -> None:
    assert (COMPUTES | CALLS_OTHERS) - judged.seen == set()
