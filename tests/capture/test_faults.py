"""Faults while a PyTorch is asked: it never answers, it leaves processes behind, its answer is malformed.

A shell script stands in for the Python that has PyTorch, and the command is a process of its own.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.capture import run as capture_run
from tests.cli.support import COMMAND, ROOT, Result, call, environment
from tests.crossref.test_stand_in import with_higher_order

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the stand-in for Python is a shell script")

ASKS = (("capture",), ("crossref", "--against", "live"))
"""The commands that ask a PyTorch."""
LATE = 60
"""Seconds after which a command hangs: what it is asked for takes less than one."""
COPY = 'cp "$HERE/answer.json" "$2"'


class StandIn:
    """A folder with the script, its answer, what it notes, and the folder for temporary files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.answer(with_higher_order())

    def answer(self, data: Any) -> None:
        (self.folder / "answer.json").write_text(json.dumps(data), encoding="utf-8")

    def script(self, *lines: str) -> str:
        """The path of a script of these lines; $HERE is the folder."""
        script = self.folder / "python"
        text = "\n".join(["#!/bin/sh", f"HERE='{self.folder}'", *lines, ""])
        script.write_text(text, encoding="utf-8")
        script.chmod(0o755)
        return str(script)

    def start(self, *command: str, python: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*COMMAND, *command, "--python", python],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(TMPDIR=str(self.temporary)),
        )

    def run(self, *command: str, python: str) -> Result:
        with self.start(*command, python=python) as running:
            return finished(running)

    def noted(self) -> list[int]:
        """The processes whose numbers the script has written to the file ``pids``."""
        return [int(word) for word in (self.folder / "pids").read_text(encoding="utf-8").split()]

    def left_behind(self) -> list[str]:
        """The files left, and the noted processes that still run a while after the end."""
        running = [f"process {pid}" for pid in self.noted() if not ends(pid)]
        return running + sorted(path.name for path in self.temporary.iterdir())


def finished(running: subprocess.Popen[str]) -> Result:
    try:
        out, err = running.communicate(timeout=LATE)
    except subprocess.TimeoutExpired:
        running.kill()
        raise AssertionError("the command hangs") from None
    return Result(running.returncode, out, err)


def ends(pid: int) -> bool:
    """True if a process has ended, or does soon; one that nobody waits for counts as ended."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state in "ZX":
            return True
        subprocess.run(["sleep", "0.05"], check=True)
    return False


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[StandIn]:
    runner = StandIn(tmp_path)
    yield runner
    if (tmp_path / "pids").exists():
        for pid in runner.noted():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.parametrize("prefix", ["", "setsid "], ids=["in its group", "in another session"])
def test_a_process_that_keeps_standard_error_open_is_not_waited_for(prefix: str, stand_in: StandIn) -> None:
    python = stand_in.script(f"{prefix}sleep 300 &", 'echo $! > "$HERE/pids"', COPY)
    result = stand_in.run("capture", python=python)
    assert result.code == 0
    assert result.out
    assert "error" not in result.err
    if not prefix:
        assert stand_in.left_behind() == []


@pytest.mark.parametrize(
    "lines",
    [
        ('mkfifo "$2"',),
        ('ln -s /dev/zero "$2"',),
        (':> "$2"',),
        (),
        ('printf "\\037\\213" > "$2"',),
    ],
    ids=["pipe", "zeros", "empty", "nothing", "gzip"],
)
def test_something_else_in_the_place_of_the_answer(lines: tuple[str, ...], stand_in: StandIn) -> None:
    result = stand_in.run("capture", python=stand_in.script(*lines))
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error[capture-failed]: ")
    assert list(stand_in.temporary.iterdir()) == []


def test_a_probe_that_never_ends(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    python = stand_in.script(
        "trap '' TERM", 'echo $$ > "$HERE/pids"', "echo waiting for a lock >&2", "sleep 300 & wait"
    )
    monkeypatch.setenv("DISPATCH_CLI_TIMEOUT", "1")
    result = stand_in.run("capture", python=python)
    assert (result.code, result.out) == (2, "")
    assert result.err == (
        f"error[no-answer]: {python} gave no answer within 1 second\n"
        "    waiting for a lock\n"
        "  help: find out what it waits for, or give it more time: DISPATCH_CLI_TIMEOUT=SECONDS\n\n"
        "1 error; nothing was done.\n"
    )
    assert stand_in.left_behind() == []


@pytest.mark.parametrize("seconds", ["0", "-1", "soon", "1e3", "9" * 400])
def test_a_time_that_is_none(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPATCH_CLI_TIMEOUT", seconds)
    result = call("capture")
    assert (result.code, result.out) == (2, "")
    assert "which is no number of seconds from 1 to 604,800" in result.err


@pytest.mark.parametrize(
    ("ask", "sent"),
    [
        (ASKS[0], signal.SIGINT),
        (ASKS[1], signal.SIGTERM),
        (("capture", "-o", "{}/out.yaml"), signal.SIGTERM),
        (("capture", "-o", "{}/out.yaml"), signal.SIGHUP),
    ],
)
def test_a_command_that_is_ended_takes_the_probe_and_its_folder_along(
    ask: tuple[str, ...], sent: signal.Signals, stand_in: StandIn
) -> None:
    python = stand_in.script(
        "trap '' TERM INT HUP",
        "sleep 300 &",
        'echo $$ $! > "$HERE/pids"',
        "sleep 0.3",
        f"kill -{sent.name.removeprefix('SIG')} $PPID",
        "wait",
    )
    result = stand_in.run(*(word.format(stand_in.folder) for word in ask), python=python)
    assert (result.code, result.out, result.err.strip()) == (128 + sent, "", "")
    assert stand_in.left_behind() == []
    assert not (stand_in.folder / "out.yaml").exists()


@pytest.mark.parametrize("part", ["higher_order_answers", "texts"])
def test_an_answer_with_more_than_a_pair(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = with_higher_order()
    next(iter(answer[part].values())).append("more")

    def run(command: list[str], *_: object) -> tuple[int, str]:
        Path(command[2]).write_text(json.dumps(answer), encoding="utf-8")
        return 0, ""

    monkeypatch.setattr(capture_run, "run_limited", run)
    result = call(*ASKS[1], "--python", sys.executable)
    assert (result.code, result.out) == (2, "")
    assert "invalid answer: each of texts and higher_order_answers must have 2 elements" in result.err
