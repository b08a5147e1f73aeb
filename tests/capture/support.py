"""Captured states without PyTorch: from recordings, and small ones made by hand; and a reader of documents."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import pytest

from dispatch_cli import universes
from dispatch_cli.capture import run
from dispatch_cli.capture.looking import parse_dump
from dispatch_cli.capture.probe import FORMAT
from dispatch_cli.capture.run import run_probe
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import AliasAnalysisKind, Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_printed_schema, parse_signature
from tests.cli.support import call
from tests.once import once
from tests.support import UNIVERSE_OF, load_recording

TORCH_PYTHON = "DISPATCH_CLI_TORCH_PYTHON"
SEED = "DISPATCH_CLI_LIVE_SEED"
ALL = "DISPATCH_CLI_LIVE_ALL"
Item = TypeVar("Item")


def torch_python() -> str:
    """The Python that has PyTorch; the test is skipped when none is named."""
    python = os.environ.get(TORCH_PYTHON)
    if not python:
        pytest.skip(f"{TORCH_PYTHON} names no Python that has PyTorch")
    return python


def live_seed() -> int:
    """The seed of what live tests choose: that of the variable, which repeats a run, else another one each time."""
    seed = int(os.environ.get(SEED) or random.randrange(1, 1 << 31))
    print(f"{SEED}={seed}")
    return seed


def live_sample(items: Sequence[Item], count: int) -> list[Item]:
    """So many of them, chosen by `live_seed`; all where the variable DISPATCH_CLI_LIVE_ALL is set."""
    return [*items] if os.environ.get(ALL) else random.Random(live_seed()).sample(items, count)


def live_state(python: str | None = None, vmap: bool = True) -> dict[str, Any]:
    """The probe's answer about that Python, else about `torch_python`: asked once in a run, a copy for each test."""
    state: dict[str, Any] = pickle.loads((_asked(python or torch_python(), vmap) / "state").read_bytes())
    return state


def live_universe(python: str | None = None) -> Any:
    """The universe of `live_state`."""
    return pickle.loads((_asked(python or torch_python(), True) / "universe").read_bytes())


def captured(vmap: bool = True) -> Path:
    """The packed file that `dispatch-cli capture` writes of the PyTorch of `torch_python`: `live_state` as a file.

    vmap: False is before a first vmap.
    """
    return _asked(torch_python(), vmap) / "capture.json.gz"


def _asked(python: str, vmap: bool) -> Path:
    """A capture, and what the probe found for it."""

    def capture(folder: Path) -> None:
        def asked(*arguments: Any, **options: Any) -> dict[str, Any]:
            state = run_probe(*arguments, vmap=vmap, **options)
            (folder / "state").write_bytes(pickle.dumps(state))
            (folder / "universe").write_bytes(pickle.dumps(state["universe"]))
            return state

        words = ("capture", "--python", python, "-o", str(folder / "capture.json.gz"))
        with patch.object(run, "run_probe", asked):
            result = call(*words)
        assert result.code == 0, result.err

    return once(f"captured-{vmap}-{blake2b(python.encode(), digest_size=8).hexdigest()}", capture)


def unpacked(capture: Path, out: Path) -> Path:
    """The capture as a file of text."""
    out.write_bytes(gzip.decompress(capture.read_bytes()))
    return out


def state_of(operators: list[dict[str, Any]], universe: dict[str, Any], **others: Any) -> dict[str, Any]:
    """A state as the probe writes it, of these operators."""
    return {
        "format": FORMAT,
        "torch": universe["torch"],
        "git": universe["git"],
        "build": "cpu",
        "modules": [],
        "known": True,
        "notes": [],
        "universe": universe,
        "operators": [{"tags": [], "python": {}, "imported": {}, **operator} for operator in operators],
        "higher_order_operators": [],
        "imported_fallbacks": [],
        "imported_higher_order_operators": [],
        "modes": [],
        "skipped": [],
        **others,
    }


def universe_data(name: str) -> dict[str, Any]:
    """The data of an embedded universe."""
    path = Path(universes.__file__).with_name(f"{name}.json")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return data


def recorded_state(version: str) -> dict[str, Any]:
    """The state that a recording shows, as the probe would have written it."""
    dumps = [texts["dump"] for texts in load_recording(f"{version}.state")["ops"].values()]
    return state_of([parse_dump(dump) for dump in dumps], universe_data(UNIVERSE_OF[version]))


def read_document(document: dict[str, Any]) -> Dispatcher:
    """Register what a document declares, by the rules of the format; a reader apart from the package's own."""
    dispatcher = Dispatcher(universes.from_data(document["universe"]))
    for entry in document["operators"]:
        if "func" in entry:
            schema = parse_printed_schema(entry["func"])
            kind = entry.get("alias_analysis", "FROM_SCHEMA")
            dispatcher.define(schema, entry["debug"], None if kind == "default" else AliasAnalysisKind[kind])
            name = schema.name
        else:
            name = OperatorName.parse(entry["name"])
        for field, value in entry.items():
            if field in ("dispatch", "fake"):
                for keys, kernels in (value if field == "dispatch" else {"Meta": value}).items():
                    for key in keys.split(", "):
                        for kernel in kernels if isinstance(kernels, list) else [kernels]:
                            dispatcher.implement(name, key, _kernel(kernel))
    return dispatcher


def _kernel(kernel: dict[str, Any]) -> Kernel:
    falls_through = kernel.get("fallthrough", False)
    has_signature = "signature" in kernel
    return Kernel(
        debug=kernel["debug"],
        signature=parse_signature(kernel["signature"]) if has_signature else None,
        boxed=kernel.get("boxed", True),
        unboxed=kernel.get("unboxed", has_signature and not falls_through),
        fallthrough=falls_through,
    )
