"""Small recordings, made from the real ones, and doctored."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dispatch_cli.capture.looking import parse_dump
from tests.capture.support import state_of, universe_data
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


def answer_of(recording: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """The answer that a PyTorch of version 2.4 or 2.15 gives, where a recording has what it says of its operators."""
    operators, skipped = [], []
    for name, texts in recording["ops"].items():
        try:
            operators.append(parse_dump(texts["dump"]))
        except ValueError as error:  # noqa: PERF203
            skipped.append({"name": name, "line": str(error)})
    return {
        **state_of(operators, universe_data(f"torch-{recording['torch'].rpartition('.')[0]}"), skipped=skipped),
        "texts": {name: [texts["dump"], texts["table"]] for name, texts in recording["ops"].items()},
        "broken": {},
        "resolve_rows": [],
        "resolved": {},
        "higher_order_answers": {},
        **others,
    }


def python_that_answers(data: Mapping[str, Any], directory: Path) -> str:
    """A shell script that gives an answer as the probe in a Python would."""
    (directory / "answer.json").write_text(json.dumps(data), encoding="utf-8")
    script = directory / "python"
    script.write_text(f'#!/bin/sh\ncp "{directory / "answer.json"}" "$2"\n', encoding="utf-8")
    script.chmod(0o755)
    return str(script)
