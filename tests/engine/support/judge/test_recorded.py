"""The engine against recorded calls of random operators in PyTorch 2.13 (written by ``--record`` of the judge)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.engine.support.judge.compare import Judged, judged
from tests.support import load_recording

RECORDING = "2.13.0.support"


def cells_of(recording: Any, scratch: Path) -> list[Judged]:
    return judged(recording["version"], recording["operators"], recording["answers"], scratch)


def test_verdicts_are_what_happened(tmp_path: Path) -> None:
    cells = cells_of(load_recording(RECORDING), tmp_path)
    assert [f"{cell.operator} {cell}" for cell in cells if cell.result == "different"] == []
    results = [cell.result for cell in cells]
    assert results.count("equal") > 800
    assert results.count("not known") < 0.08 * results.count("equal")
    for outcome in ("works", "raises", "gradient", "wrong"):
        assert sum(cell.live == outcome and cell.result == "equal" for cell in cells) > 2, outcome


@pytest.mark.parametrize("outcome", ["raises", "wrong"])
def test_a_difference_is_seen(outcome: str, tmp_path: Path) -> None:
    """A call that works by the engine and did not in PyTorch is a difference, and a false promise."""
    recording = load_recording(RECORDING)
    answer = next(row for row in recording["answers"] if row["cells"][0][2] == "works")
    changed = {**answer, "cells": [[*answer["cells"][0][:2], outcome, "on purpose"], *answer["cells"][1:]]}
    cells = cells_of({**recording, "answers": [changed]}, tmp_path)
    assert [cell.seen for cell in cells if cell.is_false_promise] == ["on purpose"]
