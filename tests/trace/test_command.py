"""`dispatch-cli trace` runs a program. PyTorch is a stand-in, or there is none."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dispatch_cli.answers.trace.command import ONLY
from dispatch_cli.trace.facts import CallFact
from tests.cli.support import COMMAND, Result, call, environment
from tests.trace.support import every
from tests.trace.test_recording import REAL

PROGRAM = "import pathlib, sys\nimport torch\nprint(sys.argv)\npathlib.Path('ran').touch()\nraise SystemExit(3)\n"


PYTHON = """#!/bin/sh
if [ "$1" = -c ]
then echo '["{folder}/torch/__init__.py", "{folder}", "3"]'
else exec {python} "$@"
fi
"""
"""A Python that says that it has PyTorch, and imports none but that beside the program."""
COMPILER = """#!/bin/sh
for word; do [ "$last" = -o ] && echo "no library" > "$word"; last=$word; done
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program beside a module that is not PyTorch, and a Python for which something is built."""
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "torch.py").write_text("__version__ = '9.9'\n", encoding="utf-8")
    (tmp_path / "plain.py").write_text("print('plain')\n", encoding="utf-8")
    bad = "dispatch: 1\noperators:\n- name: aten::sin\n  dispatch: {PrivateUse: mine}\n"
    (tmp_path / "bad.yaml").write_text(bad, encoding="utf-8")
    known = tmp_path / "known"
    dispatcher = known / "torch" / "include" / "ATen" / "core" / "dispatch" / "Dispatcher.h"
    dispatcher.parent.mkdir(parents=True)
    for file in (dispatcher, known / "Python.h", known / "torch" / "version.py"):
        file.touch()
    python = PYTHON.format(folder=known, python=shlex.quote(sys.executable))
    for name, text in (("python", python), ("compiler", COMPILER)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("CXX", str(tmp_path / "compiler"))
    return tmp_path


def trace(folder: Path, *arguments: str) -> Result:
    """Run the command there."""
    variables = environment(XDG_CACHE_HOME=str(folder / "cache"), DISPATCH_CLI_CACHE_DIR="")
    command = [*COMMAND, "trace", "--python", "./python", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=variables, text=True)
    return Result(done.returncode, done.stdout, done.stderr)


def test_what_stands_behind_the_program_is_its_own(folder: Path) -> None:
    """A PyTorch that cannot be recorded is no reason not to run it."""
    done = trace(folder, "--no-state", "program.py", "--op", "x", "--nosuch", "-m", "--", "-o")
    assert done.code == 3
    assert done.out == "['program.py', '--op', 'x', '--nosuch', '-m', '--', '-o']\n"
    assert "note: nothing was recorded: this PyTorch cannot be recorded: " in done.err


def test_a_module(folder: Path) -> None:
    done = trace(folder, "-m", "program", "--last")
    assert (done.code, done.out) == (3, f"['{folder / 'program.py'}', '--last']\n")


def test_a_program_without_pytorch(folder: Path) -> None:
    done = trace(folder, "plain.py")
    assert (done.code, done.out) == (0, "plain\n")
    assert done.err.endswith(
        "note: nothing was recorded: the program has not imported PyTorch, or its Python does not read PYTHONPATH\n"
    )
    done = trace(folder, "--save", "kept", "plain.py")
    assert done.code == 0
    assert (folder / "kept").read_bytes() == b""


BAD = {
    "no program": ((), "Give a SCRIPT to run, -m MODULE, a RECORDING to show, or --last."),
    "no module": (("-m",), "Give a MODULE."),
    "no last": (("--last",), "There is no last recording"),
    "last and program": (("--last", "program.py"), "give no program and no other recording"),
    "no torch": (
        ("--python", sys.executable, "program.py"),
        f"{sys.executable}: there is no PyTorch that it can import\n  help: give a Python that",
    ),
    "save to a directory": (("--save", ".", "program.py"), "cannot write .: it is a directory"),
    "save nowhere": (("--save", "no/x", "program.py"), "cannot write no/x: there is no such directory"),
    "save over the program": (("--save", "program.py", "program.py"), "cannot write program.py: it is an input"),
    "save into a device": (("--save", "/dev/null", "program.py"), "a recording needs a regular file"),
    "save over another file": (
        ("--save", "bad.yaml", "program.py"),
        "bad.yaml: the file is there, and is no recording",
    ),
    "answer over the program": (("-o", "program.py", "program.py"), "cannot write program.py: it is an input"),
    "filter of one call": (("--explain", "1", "--op", "*::*", "program.py"), "by its number; it takes no --op"),
    "no python": (("--python", "nosuch", "program.py"), "nosuch is not an executable Python"),
    "another program": (("--python", "/bin/ls", "program.py"), "/bin/ls does not say whether it has PyTorch"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_usage_is_found_before_the_program_runs(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, text = BAD[name]
    monkeypatch.chdir(folder)
    monkeypatch.setenv("DISPATCH_CLI_CACHE_DIR", str(folder / "cache"))
    done = call("trace", "--python", "./python", *arguments)
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert not (folder / "ran").exists()


FAILING = """
from dispatch_cli.cli import main
from dispatch_cli.answers.trace import command_run
def trace_view(file):
    raise {error}
command_run.trace_view = trace_view
main()
"""
"""The command, in which something goes wrong when the calls are read."""


def failing(folder: Path, error: str, *arguments: str) -> Result:
    """Run a program that exits with 7."""
    (folder / "seven.py").write_text("import torch\nraise SystemExit(7)", encoding="utf-8")
    command = [sys.executable, "-c", FAILING.format(error=error), "trace", *arguments, "--python", "./python"]
    variables = environment(DISPATCH_CLI_CACHE_DIR=str(folder / "cache"))
    words = [*command, "seven.py"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, env=variables, text=True)
    return Result(done.returncode, done.stdout, done.stderr)


def test_a_mistake_of_ours_does_not_change_the_exit_code(folder: Path) -> None:
    done = failing(folder, "ZeroDivisionError(file)", "--save", "kept")
    assert done.code == 7
    assert "the calls cannot be shown, which is a bug of dispatch-cli: ZeroDivisionError: kept" in done.err


@pytest.mark.parametrize(
    ("save", "again", "shows"), [(["--save", "kept"], "kept", "the calls"), ([], "--last", "these calls again")]
)
def test_who_does_not_wait_for_the_answer_gets_the_exit_code(
    folder: Path, save: list[str], again: str, shows: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = failing(folder, "KeyboardInterrupt", *save)
    assert done.code == 7
    assert f"note: interrupted; `dispatch-cli trace {again}` shows {shows}" in done.err
    monkeypatch.setenv("DISPATCH_CLI_CACHE_DIR", str(folder / "cache"))
    monkeypatch.chdir(folder)
    assert "this PyTorch cannot be recorded" in call("trace", again).out


def test_a_recording_is_known_by_its_content(tmp_path: Path) -> None:
    """Its options may stand behind it; those of a run are refused."""
    file = tmp_path / "recording.py"
    file.write_text(every(), encoding="utf-8")
    assert call("trace", str(file), "--op", "aten::relu") == call("trace", "--op", "aten::relu", str(file))
    for arguments, text in (
        ((str(file), "--no-state"), "--no-state says how a program is run, and "),
        (("--max-size", "1", str(file)), "--max-size says how a program is run, and "),
        ((str(file), str(REAL)), "Give one recording"),
    ):
        result = call("trace", *arguments)
        assert result.code == 2
        assert text in result.err


def test_an_ignored_hangup_is_ignored_by_the_program(folder: Path) -> None:
    """As under nohup."""
    (folder / "plain.py").write_text(
        "import signal\nprint(signal.getsignal(signal.SIGHUP) == signal.SIG_IGN)\n", encoding="utf-8"
    )
    command = ["nohup", *COMMAND, "trace", "--python", "./python", "plain.py"]
    variables = environment(XDG_CACHE_HOME=str(folder / "cache"))
    done = subprocess.run(command, cwd=folder, capture_output=True, check=False, env=variables, text=True)
    assert (done.returncode, done.stdout) == (0, "True\n")


def test_every_fact_of_a_call_can_be_chosen() -> None:
    assert tuple(fact.value for fact in CallFact) == ONLY


# Where the last recording is kept. No PyTorch is needed.
