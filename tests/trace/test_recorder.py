"""Recordings of programs in a live PyTorch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.trace.recorded import LIVE_PROGRAMS, Recorded, run_source

pytestmark = pytest.mark.live


def test_a_call(tmp_path: Path) -> None:
    """The operator, the key sets that PyTorch itself tells, and the line."""
    source = LIVE_PROGRAMS["a call"]["program.py"]
    done = run_source(tmp_path, source)
    if "raw_repr" in done.err:
        pytest.skip("this PyTorch does not tell the bits of a key set")
    tensors, keys = (json.loads(line) for line in done.out.splitlines())
    call = done.calls("aten::mul.Tensor")[0]
    assert call["tensors"] == [[tensor] for tensor in tensors]
    assert call["keys"] == keys
    assert (call["file"], call["line"], call["function"]) == (str(tmp_path / "program.py"), 6, "inside")
    assert (done.code, done.err, call["thread"], call["depth"]) == (0, "", "MainThread", 0)
    assert done.head["torch"].count(".") == 2


# Values of tensors, threads and operators in a recording, beside those of PyTorch itself in the same program.


def recorded(tmp_path: Path, source: str) -> tuple[Recorded, list[Any]]:
    """The recording, and the lines of JSON that the program printed."""
    done = run_source(tmp_path, source)
    assert done.code == 0, done.err
    assert done.tagged("x") == []
    return done, [json.loads(line) for line in done.out.splitlines()]


def outside_in(note: list[Any]) -> list[tuple[str, int]]:
    """The wrappers of a tensor with their levels."""
    return [(note[1], note[2]), *outside_in(note[3])] if len(note) == 4 else []


def test_wrappers_and_layers_of_functorch(tmp_path: Path) -> None:
    source = LIVE_PROGRAMS["wrappers and layers of functorch"]["program.py"]
    done, printed = recorded(tmp_path, source)
    outer = [call for call in done.calls("aten::atan") if call["depth"] == 0]
    assert len(outer) == len(printed) == 4
    for call, (wrappers, layers) in zip(outer, printed, strict=True):
        functional = [kind for kind, _ in layers] == ["functionalize"]  # Python does not tell of these
        assert [list(tensor) for tensor in outside_in(call["tensors"][0])] == (
            [["functional", 1]] if functional else wrappers
        )
        assert [layer[:2] for layer in call["layers"]] == layers
        assert all(layer[2] is None for layer in call["layers"])


def test_gradients_devices_classes_and_modes(tmp_path: Path) -> None:
    source = LIVE_PROGRAMS["gradients devices classes and modes"]["program.py"]
    done, [printed] = recorded(tmp_path, source)
    calls = [call for call in done.calls("aten::atan") if call["depth"] == 0]
    assert [[*call["requires_grad"], *call["devices"], *call["subclasses"]] for call in calls] == printed
    modes = [(call["inference"], call["grad_mode"]) for call in done.calls("aten::sin")]
    assert modes == [(True, False), (False, False)]
    assert [call["modes"] for call in done.calls("aten::cos")] == [["Mode", "Other"], ["Mode"], []]


def test_operators_that_come_and_go(tmp_path: Path) -> None:
    """Their schemas are at the same addresses."""
    source = LIVE_PROGRAMS["operators that come and go"]["program.py"]
    done, _ = recorded(tmp_path, source)
    calls = [call for call in done.calls() if call["operator"].startswith("mine::")]
    assert [call["operator"] for call in calls] == [f"mine::operator{number}" for number in range(20)]
    assert [len(call["tensors"]) for call in calls] == [1, 2] * 10


def test_operators_of_custom_op(tmp_path: Path) -> None:
    """Also those that `import torch` has made, as ``prims::abs``."""
    done = run_source(tmp_path, LIVE_PROGRAMS["operators of custom_op"]["program.py"], fresh=True)
    assert (done.code, done.tagged("x")) == (0, []), done.err
    calls = [call["operator"] for call in done.calls() if call["depth"] == 0]
    assert calls == ["aten::ones", "mine::twice", "mine::twice", "prims::abs", "prims::cos"]
