"""A few random calls and histories of every embedded version, as its PyTorch made them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import bases, universes
from tests.support import RECORDINGS, load_recording
from tests.versions.judge import recorded

VERSIONS = sorted(file.name.split("-")[1].removesuffix(".version.json.xz") for file in RECORDINGS.glob("*.version.*"))


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_calls_and_histories(version: str, tmp_path: Path) -> None:
    recording = load_recording(f"{version}.version")
    recording = {**recording, **{part: recording[part][:20] for part in ("calls", "histories")}}
    name = f"torch-{version.rpartition('.')[0]}"
    assert recording["torch"] == universes.load(name).torch, "of the build that is embedded"
    parts = {part.name: part for part in recorded(name, recording, tmp_path)}
    assert {part.name: part.wrong for part in parts.values() if part.wrong} == {}
    assert parts["calls"].compared == 100
    assert parts["history steps"].compared > 100
    assert parts["higher-order calls"].compared == 40


def test_every_version_has_a_recording() -> None:
    assert sorted(f"torch-{version.rpartition('.')[0]}" for version in VERSIONS) == sorted(bases.names())
