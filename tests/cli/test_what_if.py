"""-k: the what-if of ``torch/_python_dispatcher.py``, against what PyTorch's own PythonDispatcher answers.

``expected/what_if.register.raw`` and ``what_if.table.raw`` come from PyTorch 2.15.0; they are written by

    python tests/cli/record_what_if.py tests/cli/expected CPU XLA Lazy CompositeImplicitAutograd

run with a Python that has PyTorch 2.15.0.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from dispatch_cli import universes
from tests.capture.support import torch_python
from tests.cli.support import call, process
from tests.cli.transcripts import EXPECTED

KEYS = ("CPU", "XLA", "Lazy", "CompositeImplicitAutograd")
RECORD = Path(__file__).parent / "record_what_if.py"
CORE_FALLBACK = re.compile(r"registered at \S+ \[backend fallback\]")


def options(keys: tuple[str, ...]) -> list[str]:
    return [argument for key in keys for argument in ("-k", key)]


@pytest.mark.parametrize("command", ["register", "table"])
def test_raw_answers_are_pytorchs(command: str) -> None:
    recorded = (EXPECTED / f"what_if.{command}.raw").read_text(encoding="utf-8")
    assert process(command, *options(KEYS), "--format", "raw").out == recorded


def test_registrations_as_text() -> None:
    assert call("register", *options(KEYS)).out == (
        "__test__::foo(Tensor x) -> Tensor\n"
        "alias analysis FROM_SCHEMA\n"
        "\n"
        "Key                                Kernel                                                 State   Fills\n"
        "CPU                                fn_CPU (Tensor _0) -> Tensor _0                        active  1 key\n"
        "XLA                                fn_XLA (Tensor _0) -> Tensor _0                        active  1 key\n"
        "Lazy                               fn_Lazy (Tensor _0) -> Tensor _0                       active  1 key\n"
        "CompositeImplicitAutograd [alias]  fn_CompositeImplicitAutograd (Tensor _0) -> Tensor _0  active  "
        "98 of 103 keys\n"
        "\n"
        "1 operator, 4 kernels, 38 core fallbacks of torch-2.15\n"
    )


@pytest.mark.live
@pytest.mark.parametrize(
    "keys",
    [
        KEYS,
        ("CPU", "AutogradCPU", "CompositeImplicitAutograd"),
        ("FPGA", "AutogradOther", "CompositeImplicitAutograd"),
        ("FPGA", "CompositeImplicitAutograd"),
        ("CompositeExplicitAutograd", "Autograd"),
        ("CompositeExplicitAutograd", "XLA"),
        ("Autograd",),
        ("CPU", "Autograd", "CompositeImplicitAutograd"),
    ],
)
def test_raw_answers_are_those_of_a_live_pytorch(keys: tuple[str, ...], tmp_path: Path) -> None:
    """Of every version: the keys that both know, and PyTorch's own fallbacks without their places."""
    subprocess.run([torch_python(), str(RECORD), str(tmp_path), *keys], check=True, capture_output=True)
    live = (tmp_path / "what_if.register.raw").read_text(encoding="utf-8")
    assert call("register", *options(keys), "--format", "raw").out == live
    ours = lines(call("table", *options(keys), "--format", "raw").out)
    theirs = lines((tmp_path / "what_if.table.raw").read_text(encoding="utf-8"))
    known = set(universes.load(universes.default_name()).slots)
    assert len(theirs) > 40
    assert {key: answer for key, answer in ours.items() if key in theirs or "fn_" in answer} == {
        key: answer for key, answer in theirs.items() if key in known
    }


def lines(table: str) -> dict[str, str]:
    """Key → answer of a table dump."""
    split = (line.split(": ", 1) for line in table.splitlines())
    return {key: CORE_FALLBACK.sub("PyTorch's own", answer) for key, answer in split}
