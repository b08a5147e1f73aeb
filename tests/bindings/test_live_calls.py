"""Calls of all functions of the bindings, bad arguments included: answers and errors are those of PyTorch 2.13.

`python -m tests.bindings` makes more of them. ``DISPATCH_CLI_LIVE_SEED`` repeats a run.
"""

from __future__ import annotations

import os
import random
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from tests import in_pytorch
from tests.bindings.answers import Answer
from tests.bindings.compared import ON_PURPOSE, OnPurpose, Own, all_programs, differences, live_answers, reason_of
from tests.capture.support import captured, torch_python
from tests.support import load_recording

PROGRAMS = 40
UNIVERSE = universes.load("torch-2.13")
VERSION = "2.13."
"""The version that the signatures and messages are of."""


@pytest.fixture(scope="module")
def python() -> str:
    executable = torch_python()
    version = in_pytorch.run([executable, "-c", "import torch; print(torch.__version__)"]).stdout
    if not version.startswith(VERSION):
        pytest.skip(f"the texts are those of PyTorch {VERSION}*")
    return executable


@pytest.fixture(scope="module")
def own(python: str) -> Own:  # noqa: ARG001
    dispatcher = load_state([str(captured(vmap=False))]).dispatcher
    return Own(dispatcher.universe, dispatcher)


def test_recorded_calls() -> None:
    recorded = load_recording("2.13.0.bindings")
    programs, answers = [program for program, _ in recorded], [[Answer(*a) for a in each] for _, each in recorded]
    problems = differences(programs, answers, Own(UNIVERSE, Dispatcher(UNIVERSE)).answers(programs))
    assert [str(difference) for difference in problems if reason_of(difference) is None] == []
    assert sum(map(len, programs)) > 3000


def compared(python: str, own: Own, programs: list[list[str]]) -> Any:
    return differences(programs, live_answers(python, programs), own.answers(programs))


@pytest.mark.live
def test_random_calls_are_answered_as_by_a_live_pytorch(python: str, own: Own) -> None:
    seed = int(os.environ.get("DISPATCH_CLI_LIVE_SEED") or random.randrange(1 << 31))
    programs = all_programs(python, seed, PROGRAMS)
    rest = [difference for difference in compared(python, own, programs) if reason_of(difference) is None]
    assert rest == [], f"seed {seed}: " + "\n\n".join(map(str, rest[:5]))
    assert sum(map(len, programs)) > 8 * PROGRAMS


@pytest.mark.live
def test_what_is_listed_as_different_is(python: str, own: Own) -> None:
    """Each listed difference has an example, whose last step differs in that way."""
    examples = [list(entry.example) for entry in ON_PURPOSE]
    problems = compared(python, own, examples)
    last = {(*difference.before, difference.step): difference for difference in problems}
    assert [entry.reason for entry in ON_PURPOSE if not _covered(entry, last)] == []


def _covered(entry: OnPurpose, last: dict[tuple[str, ...], Any]) -> bool:
    difference = last.get(entry.example)
    return difference is not None and entry.covers(difference)
