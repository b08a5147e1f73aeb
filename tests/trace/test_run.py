"""Programs that the command runs: their output, their arguments and their exit code are their own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.capture.support import torch_python
from tests.cli.support import process

SCRIPT = """
import sys
print("out", sys.argv[1:])
sys.exit(3)
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    path = tmp_path / "s.py"
    path.write_text(SCRIPT, encoding="utf-8")
    return str(path)


def test_options_after_the_script_are_its_own(script: str, tmp_path: Path) -> None:
    save = tmp_path / "s.trace"
    result = process("trace", "--python", sys.executable, "--save", str(save), script, "--op", "x", "-o", "y")
    assert (result.code, result.out) == (3, "out ['--op', 'x', '-o', 'y']\n")
    assert "the program has not imported PyTorch" in result.err
    assert not Path("y").exists()


def test_what_does_not_go_together_is_refused(script: str, tmp_path: Path) -> None:
    for arguments, said in (
        ([], "Give one of"),
        (["--last", script], "Give one of"),
        ([str(tmp_path / "no.py")], "There is no script or recording"),
        (["--save", "x", "tests/trace/recordings/train.trace"], "--save is for a program"),
    ):
        result = process("trace", *arguments)
        assert (result.code, result.out) == (2, "")
        assert said in result.err


def test_options_after_a_recording_are_read() -> None:
    result = process("trace", "tests/trace/recordings/train.trace", "--depth", "1", "--op", "aten::relu")
    assert result.code == 0
    assert "aten::relu" in result.out
    assert "aten::linear" not in result.out


@pytest.mark.live
def test_a_program_is_shown_on_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "p.py"
    path.write_text("import torch\nprint(torch.ones(2).sum().item())\nraise SystemExit(5)\n", encoding="utf-8")
    save = tmp_path / "p.trace"
    result = process("trace", "--python", torch_python(), "--save", str(save), "--depth", "1", str(path))
    assert (result.code, result.out) == (5, "2.0\n")
    assert "aten::sum" in result.err
    assert process("trace", str(save), "--op", "aten::sum").code == 0
