"""Backend fallbacks of several libraries at one key, in every order, as each PyTorch version took them."""

from __future__ import annotations

import json
import lzma
from pathlib import Path

import pytest

from dispatch_cli import universes
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.engine.dispatcher.recorded_histories import differing_steps
from tests.support import RECORDINGS, load_recording

FILES = RECORDINGS.glob("*.fallbacks.*")
VERSIONS = sorted(file.name.removeprefix("torch-").removesuffix(".fallbacks.json.xz") for file in FILES)


@pytest.mark.parametrize("version", VERSIONS)
def test_every_step_is_as_recorded(version: str) -> None:
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
    script = RECORDINGS / "record_fallbacks.py"
    in_pytorch.run([torch_python(), str(script), str(out)])
    with lzma.open(out, "rt") as file:
        recording = json.load(file)
    universe = universes.from_data(live_universe())
    assert list(universe.replaceable_fallbacks) == recording["second"]
    assert differing_steps(universe, recording["histories"])[1] == []
