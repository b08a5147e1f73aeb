"""Programs started with the recorder, as the command does it. No PyTorch is needed."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

from dispatch_cli.trace.launch import launch
from tests.trace.recorded import read


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("print(1)", 0),
        ("raise SystemExit(3)", 3),
        ("1 / 0", 1),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", 128 + signal.SIGKILL),
        ("raise KeyboardInterrupt", 128 + signal.SIGINT),
    ],
)
def test_the_exit_code_is_the_programs(tmp_path: Path, source: str, code: int) -> None:
    program = tmp_path / "program.py"
    program.write_text(source, encoding="utf-8")
    assert launch(sys.executable, [str(program), "--save", "x"], tmp_path / "save") == code
    assert read(tmp_path / "save")[0]["argv"] == [str(program), "--save", "x"]


def test_a_module_and_its_options(tmp_path: Path) -> None:
    code = launch(sys.executable, ["json.tool", "--help"], tmp_path / "save", module=True, lines=False, megabytes=1)
    head = read(tmp_path / "save")[0]
    assert (code, head["argv"], head["lines"]) == (0, ["-m", "json.tool", "--help"], False)
