"""Small recordings, made from the real ones, and doctored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support import load_recording

ADD = "aten::add.Tensor"
CONJ = "aten::_conj"
DROPOUT = "aten::dropout"
RELU = "aten::relu"
SILU = "aten::silu"


def recording_of(names: tuple[str, ...], version: str = "2.4.1") -> dict[str, Any]:
    """The recording of a PyTorch version, with a few of its operators."""
    whole = load_recording(f"{version}.state")
    return {**whole, "ops": {name: dict(whole["ops"][name]) for name in names}}


def doctored() -> dict[str, Any]:
    """A recording in which PyTorch says other things than it did, one of each kind."""
    recording = recording_of((ADD, CONJ, DROPOUT, RELU, SILU))
    ops: Mapping[str, dict[str, str]] = recording["ops"]
    replace(ops[ADD], "table", "\nCPU: registered at ", "\nCPU: fallthrough registered at ")
    for backend in ("HIP", "XLA", "MPS"):
        take_line(ops[CONJ], "table", backend)
    first, second, *rest = ops[DROPOUT]["table"].splitlines()
    ops[DROPOUT]["table"] = "\n".join([second, first, *rest]) + "\n"
    replace(ops[RELU], "table", "\nMeta: ", "\nXLA: nobody [kernel]\nMeta: ")
    ops[RELU]["dump"] += "Nowhere: a kernel :: (none) [ boxed ]\n"
    replace(ops[SILU], "dump", "\nCPU: ", "\nCPU (sleeping): ")
    return recording


def replace(texts: dict[str, str], dump: str, old: str, new: str) -> None:
    """Change what stands in a dump exactly once."""
    assert texts[dump].count(old) == 1, old
    texts[dump] = texts[dump].replace(old, new)


def take_line(texts: dict[str, str], dump: str, key: str) -> None:
    """Take the line of a key out of a dump."""
    lines = texts[dump].splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(f"{key}: ")]
    assert len(kept) == len(lines) - 1, key
    texts[dump] = "".join(kept)


def written(directory: Path, recording: Mapping[str, Any]) -> str:
    """The path of a file that holds the recording."""
    file = directory / "recording.json"
    file.write_text(json.dumps(recording), encoding="utf-8")
    return str(file)
