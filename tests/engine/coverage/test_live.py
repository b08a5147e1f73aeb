"""Coverage against a live PyTorch: what it says of each key, and what calls on a backend made in Python do."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from tests import in_pytorch
from tests.capture.support import live_state, torch_python
from tests.engine.coverage.backend import answers, judged, plan
from tests.engine.coverage.compare import BACKENDS, compare, said_by
from tests.engine.coverage.support import live_dispatcher

SEED = "DISPATCH_CLI_LIVE_SEED"
OPERATORS = 4
"""Number of operators of each class that a run of the suite calls."""


@pytest.fixture(scope="module")
def loaded() -> Dispatcher:
    """The operators of the live PyTorch."""
    return live_dispatcher(live_state())


@pytest.fixture
def dispatcher(loaded: Dispatcher) -> Iterator[Dispatcher]:
    """The same, as it was before the test in the end."""
    before = loaded.checkpoint()
    yield loaded
    loaded.restore(before)


@pytest.mark.live
def test_every_class_is_what_brute_force_finds(dispatcher: Dispatcher) -> None:
    comparison = compare(dispatcher, said_by(torch_python()))
    assert comparison.different == []
    assert comparison.operators > 3000 * len(BACKENDS)
    assert len(comparison.known) < comparison.operators / 100


@pytest.mark.live
@pytest.mark.parametrize("fallback", [None, "cpu"])
def test_calls_do_what_coverage_says(fallback: str | None, dispatcher: Dispatcher) -> None:
    ask = "from torch.utils.backend_registration import _setup_privateuseone_for_python_backend"
    if in_pytorch.run([torch_python(), "-c", ask], check=False).returncode:
        pytest.skip("this PyTorch has no backends in Python")
    seed = int(os.environ.get(SEED) or 77)  # `python -m tests.engine.coverage.calls` takes others
    asked, ours = plan(dispatcher, fallback, OPERATORS, seed)
    tallies = judged(ours, answers(torch_python(), asked), fallback)
    assert {group: one.wrong for group, one in tallies.items() if one.wrong} == {}, f"seed {seed}"
    assert sum(tally.called for tally in tallies.values()) > len(ours) * 0.3
