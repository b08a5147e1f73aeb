"""Recorded calls of live PyTorch: the same kernels, at the same keys, with the same key sets; or the same error.

The universe of 2.13 is that of 2.15 in everything that these calls touch; `test_layout_of_2_13` asks a live one.
"""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from tests.capture.support import live_universe
from tests.engine.call.recorded_calls import compare
from tests.support import load_recording

VERSIONS = ("2.13.0", "2.15.0")


@pytest.mark.parametrize("version", VERSIONS)
def test_recorded_calls(version: str) -> None:
    count, wrong, stale = compare(universes.load("torch-2.15"), load_recording(f"{version}.calls")["cases"])
    assert wrong == []
    assert count == 1500
    assert (stale > 0) == (version == "2.15.0"), "a few calls of that recording are told by the live table alone"


@pytest.mark.live
def test_layout_of_2_13() -> None:
    live = universes.from_data(live_universe())
    if live.name != "torch-2.13":
        pytest.skip("another PyTorch is named")
    differing = set(universes.differences(live, universes.load("torch-2.15")))
    assert differing == {"name", "torch", "git", "fallbacks", "wrapped", "torch_library", "fake_without_device"}
    keys = [[fallback.key for fallback in one.fallbacks] for one in (live, universes.load("torch-2.15"))]
    assert keys[0] == keys[1]
    assert (live.fake_without_device, universes.load("torch-2.15").fake_without_device) == (False, True)
