"""Random histories on live dispatchers: after every step the dumps, the error and the invariants are PyTorch's."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from tests import in_pytorch
from tests.capture.support import live_seed, live_state, live_universe, torch_python
from tests.engine.dispatcher.recorded_histories import differing_steps, replays
from tests.support import RECORDINGS, UNIVERSE_OF, load_recording, replay_dump

OPERATORS = {"2.4.1": 3563, "2.15.0": 3624}


@pytest.mark.parametrize("version", OPERATORS)
def test_every_operator_dumps_as_pytorch_does(version: str) -> None:
    recorded = load_recording(f"{version}.state")["ops"]
    dispatcher = Dispatcher(universes.load(UNIVERSE_OF[version]))
    assert len(recorded) == OPERATORS[version]
    names = [replay_dump(dispatcher, texts["dump"]) for texts in [*recorded.values()][::2]]
    different = []
    for name in names:
        texts = recorded[str(name)]
        if dump_registrations(dispatcher, name) != texts["dump"] or dump_table(dispatcher, name) != texts["table"]:
            different.append(str(name))
    assert different == []
    assert len({id(dispatcher.table(name).plan) for name in names}) < 450, "they share plans"


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


# Backend fallbacks of several libraries at one key, in every order, as each PyTorch version took them.


FILES = RECORDINGS.glob("*.fallbacks.*")
VERSIONS = sorted(file.name.removeprefix("torch-").removesuffix(".fallbacks.json.xz") for file in FILES)


@pytest.mark.parametrize("version", VERSIONS)
def test_fallbacks_are_as_recorded(version: str) -> None:
    recording = load_recording(f"{version}.fallbacks")
    universe = universes.load(f"torch-{version.rpartition('.')[0]}")
    assert recording["torch"] == universe.torch, "of the build that is embedded"
    assert list(universe.replaceable_fallbacks) == recording["second"]
    steps, wrong = differing_steps(universe, recording["histories"])
    assert wrong == []
    assert steps > 100


def test_every_version_has_a_recording() -> None:
    assert sorted(f"torch-{version.rpartition('.')[0]}" for version in VERSIONS) == sorted(universes.names())


@pytest.mark.live
def test_every_step_is_as_in_a_live_pytorch(tmp_path: Path) -> None:
    out = tmp_path / "fallbacks.json.xz"
    in_pytorch.run([torch_python(), str(RECORDINGS / "record_sequences.py"), str(out), "fallbacks"])
    with lzma.open(out, "rt") as file:
        recording = json.load(file)
    universe = universes.from_data(live_universe())
    assert list(universe.replaceable_fallbacks) == recording["second"]
    assert differing_steps(universe, recording["histories"])[1] == []


# New random histories of a live PyTorch of any version, whose universe is captured first.


COUNT = 300
"""Histories of a live test."""


@pytest.mark.live
def test_new_histories_are_as_live_pytorch_has_them(tmp_path: Path) -> None:
    data = live_state()["universe"]
    out = tmp_path / "histories.json"
    in_pytorch.run([torch_python(), str(RECORDINGS / "record_sequences.py"), str(out), str(live_seed()), str(COUNT)])
    histories = json.loads(out.read_text(encoding="utf-8"))["histories"]
    assert len(histories) == COUNT
    steps, problems = differing_steps(universes.from_data(data), histories)
    assert problems == [], f"{len(problems)} of {steps} steps differ"
    assert steps > 3 * COUNT
