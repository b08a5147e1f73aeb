"""Random operators of ``torch.library``, recorded of three versions of PyTorch: the same registrations and calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli import universes
from dispatch_cli.model.universe import Universe
from tests.capture.support import live_sample, torch_python
from tests.custom_ops.compare import Comparison, compared, live_comparison
from tests.support import load_recording

COUNT = 30


@pytest.mark.live
def test_recorded_operators(tmp_path: Path) -> None:
    """As many of them, chosen by a seed, in a live PyTorch."""
    recorded = [row["operator"] for row in load_recording("2.15.0.custom_ops")["operators"]]
    result = live_comparison(torch_python(), live_sample(recorded, COUNT), tmp_path)
    assert result.differences == []
    assert sum(result.agreed.values()) > COUNT * 4


EMBEDDED = {"2.4.1": "torch-2.4", "2.13.0": "torch-2.15", "2.15.0": "torch-2.15"}
"""The universe with the keys of each version."""


def universe_of(version: str) -> dict[str, Any]:
    """The data of a universe with what the version's ``torch.library`` registers."""
    data: dict[str, Any] = json.loads(
        (Path(universes.__file__).parent / f"{EMBEDDED[version]}.json").read_text(encoding="utf-8")
    )
    data["torch_library"] = load_recording(f"{version}.custom_ops")["torch_library"]
    return data


def comparison(version: str, scratch: Path) -> Comparison:
    universe = universe_of(version)
    library = universes.from_data(universe).torch_library
    assert library is not None
    operators = load_recording(f"{version}.custom_ops")["operators"][version == "2.15.0" :: 2]
    return compared({"operators": operators}, universe, library, scratch)


@pytest.mark.parametrize(("version", "least"), [("2.4.1", 600), ("2.13.0", 850), ("2.15.0", 850)])
def test_registrations_refusals_and_calls(version: str, least: int, tmp_path: Path) -> None:
    result = comparison(version, tmp_path)
    assert result.differences == []
    assert sum(result.agreed.values()) > least
    kinds = {"dump", "table", "tags", "refused", "call: cpu", "call: vmap", "call: grad", "call: meta"}
    assert all(result.agreed[kind] > 15 for kind in kinds), result.agreed


@pytest.mark.parametrize("version", ["2.4.1", "2.15.0"])
def test_the_embedded_universes_say_what_was_recorded(version: str) -> None:
    recorded: Universe = universes.from_data(universe_of(version))
    assert universes.load(EMBEDDED[version]).torch_library == recorded.torch_library
