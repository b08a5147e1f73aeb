"""Programs started with the recorder, as the command does it. No PyTorch is needed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from dispatch_cli.trace.launch import command, launch
from tests.trace.recorded import read


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
        ("raise KeyboardInterrupt", 128 + signal.SIGINT),
    ],
)
def test_the_exit_code_is_the_programs(tmp_path: Path, source: str, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    assert launch(command(sys.executable, [str(program), "--save", "x"], None, str(tmp_path / "save"))) == code


def test_a_module_and_its_options(tmp_path: Path) -> None:
    words = ["json.tool", "--help"]
    code = launch(command(sys.executable, words, None, str(tmp_path / "save"), module=True, lines=False, megabytes=1))
    head = read(tmp_path / "save")[0]
    assert (code, head["argv"], head["lines"]) == (0, ["-m", "json.tool", "--help"], False)
