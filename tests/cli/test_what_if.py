"""-k: the what-if of ``torch/_python_dispatcher.py``, against what PyTorch's own PythonDispatcher answers.

``expected/what_if.register.raw`` and ``what_if.table.raw`` come from PyTorch 2.15.0: `RECORD` wrote them for `KEYS`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.cli.support import call, process
from tests.cli.transcripts import EXPECTED

KEYS = ("CPU", "XLA", "Lazy", "CompositeImplicitAutograd")
RECORD = """
import sys
from pathlib import Path

from torch._python_dispatcher import PythonDispatcher

folder, keys = Path(sys.argv[1]), sys.argv[2:]
dispatcher = PythonDispatcher()
dispatcher.register(keys)
(folder / "what_if.register.raw").write_text(dispatcher.rawRegistrations(), encoding="utf-8")
(folder / "what_if.table.raw").write_text(dispatcher.rawDispatchTable(), encoding="utf-8")
"""
"""Writes the two dumps of PyTorch's PythonDispatcher into a folder. Arguments: the folder, keys."""


def options(keys: tuple[str, ...]) -> list[str]:
    return [argument for key in keys for argument in ("-k", key)]


@pytest.mark.parametrize("command", ["register", "table"])
def test_raw_answers_are_pytorchs(command: str) -> None:
    recorded = (EXPECTED / f"what_if.{command}.raw").read_text(encoding="utf-8")
    assert process(command, *options(KEYS), "--format", "raw").out == recorded


@pytest.mark.live
@pytest.mark.parametrize(
    "keys",
    [
        KEYS,
        ("CPU", "AutogradCPU", "CompositeImplicitAutograd"),
        ("FPGA", "AutogradOther", "CompositeImplicitAutograd"),
        ("CompositeExplicitAutograd", "Autograd"),
        ("Autograd",),
        ("CPU", "Autograd", "CompositeImplicitAutograd"),
    ],
)
def test_raw_answers_are_those_of_a_live_pytorch(keys: tuple[str, ...], tmp_path: Path) -> None:
    """The answers of every version, over its own universe."""
    universe = tmp_path / "universe.json"
    universe.write_text(json.dumps(live_universe()), encoding="utf-8")
    in_pytorch.run([torch_python(), "-c", RECORD, str(tmp_path), *keys])
    for command in ("register", "table"):
        live = (tmp_path / f"what_if.{command}.raw").read_text(encoding="utf-8")
        assert call(command, *options(keys), "--universe", str(universe), "--format", "raw").out == live
