"""Random histories on live dispatchers: after every step the dumps, the error and the invariants are PyTorch's."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from tests.engine.dispatcher.recorded_histories import differing_steps, replays
from tests.support import UNIVERSE_OF, load_recording, replay_dump

OPERATORS = {"2.4.1": 3563, "2.15.0": 3624}


@pytest.mark.parametrize("version", OPERATORS)
def test_every_operator_dumps_as_pytorch_does(version: str) -> None:
    recorded = load_recording(f"{version}.state")["ops"]
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    names = [replay_dump(dispatcher, texts["dump"]) for texts in recorded.values()]
    assert len(names) == OPERATORS[version]
    different = []
    for name in names:
        texts = recorded[str(name)]
        if dump_registrations(dispatcher, name) != texts["dump"] or dump_table(dispatcher, name) != texts["table"]:
            different.append(str(name))
    assert different == []


@pytest.mark.parametrize("version", OPERATORS)
def test_operators_share_plans(version: str) -> None:
    recorded = load_recording(f"{version}.state")["ops"]
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    names = [replay_dump(dispatcher, texts["dump"]) for texts in recorded.values()]
    assert len({id(dispatcher.table(name).plan) for name in names}) < 450


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_step_is_as_recorded(version: str) -> None:
    steps, wrong = differing_steps(
        universes.load(UNIVERSE_OF[version]), load_recording(f"{version}.histories")["histories"]
    )
    assert wrong == []
    assert steps > 1400


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_distinct_functions_fail_wherever_pytorch_fails(version: str) -> None:
    """PyTorch's kernels there share one function, so it can miss a stale slot. It never sees one that is not there."""
    failing = 0
    for history, replay in replays(version, None):
        for number, step in enumerate(history):
            replay.run(number, step)
            holds, recorded = replay.invariants_hold(), step["after"]["invariants"]
            assert recorded or not holds, f"history {replay.namespace}, step {number}"
            failing += not recorded
    assert failing > 0
