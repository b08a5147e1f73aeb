"""Signals that are sent to programs, alone and launched: they get the same ones. No PyTorch is needed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Timer

import pytest

from dispatch_cli.trace.launch import variables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing is recorded"),
    pytest.mark.parametrize("how", ["alone", "launched"]),
]

SAYS = """
import os, signal, sys, time
def say(*words):
    os.write(1, (" ".join(str(one) for one in words) + "\\n").encode())
def says(*numbers):
    for number in numbers:
        signal.signal(number, lambda number, _: say("got", signal.Signals(number).name))
"""
ENDS = """
say("ready")
os.read(0, 1)
sys.exit(5)
"""
"""It ends when its standard input gets a character."""
EVERY = "SIGINT SIGQUIT SIGTERM SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGVTALRM SIGPROF SIGIO SIGURG SIGABRT SIGWINCH SIGCONT"
ALL = f"says(*(getattr(signal, name) for name in {EVERY.split()}))"
SOON = 0.15
"""Seconds in which a signal has been passed on."""


class Started:
    """A program that runs, the leader of its group of processes."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.pid = process.pid

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().strip()

    def send(self, *numbers: signal.Signals, group: bool = False) -> None:
        for number in numbers:
            (os.killpg if group else os.kill)(self.pid, number)
        time.sleep(SOON)

    def end(self) -> tuple[list[str], int]:
        """Lines that it has printed since, and its exit code, as shells give it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(b".")
        self.process.stdin.close()
        lines = self.process.stdout.read().decode().split("\n")[:-1]
        code = self.process.wait(20)
        return lines, 128 - code if code < 0 else code

    def stopped(self, seconds: float = 0) -> int | None:
        """The signal that stops it within some seconds; None where it runs."""
        end = time.monotonic() + seconds
        while True:
            pid, status = os.waitpid(self.pid, os.WUNTRACED | os.WNOHANG)
            if pid or time.monotonic() > end:
                return os.WSTOPSIG(status) if pid and os.WIFSTOPPED(status) else None
            time.sleep(0.02)


@contextmanager
def started(tmp_path: Path, how: str, source: str) -> Iterator[Started]:
    """A program that runs. Nothing of its group is left at the end."""

    def begin() -> None:
        for number in (signal.SIGINT, signal.SIGQUIT):  # a shell has them ignored by what it runs in the background
            signal.signal(number, signal.SIG_DFL)
        os.setpgrp()

    program = tmp_path / "program.py"
    program.write_text(SAYS + source + ENDS, encoding="utf-8")
    command = [sys.executable, str(program)]
    if how == "launched":
        added = variables(command[1:], "none", str(tmp_path / "save"))
        start = (
            "import sys, tempfile\nfrom dispatch_cli.trace.launch import become\nwith tempfile.TemporaryDirectory() as "
            f"folder, become(sys.argv[1:], {added}, folder): pass"
        )
        command = [sys.executable, "-c", start, *command]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, preexec_fn=begin)
    one = Started(process)
    late = Timer(20, lambda: os.killpg(one.pid, signal.SIGKILL))
    late.start()
    try:
        assert one.line() == "ready"
        yield one
        for _ in range(50):
            try:
                os.killpg(one.pid, 0)
            except ProcessLookupError:
                break
            time.sleep(0.1)
        else:
            pytest.fail("processes of its group are left")
    finally:
        late.cancel()
        with suppress(ProcessLookupError):
            os.killpg(one.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.close()
        process.stdout.close()


@pytest.mark.parametrize("group", [False, True])
def test_every_signal_comes_once(tmp_path: Path, how: str, group: bool) -> None:
    """To the process that was started, and to its group, as a terminal sends them."""
    with started(tmp_path, how, ALL) as program:
        for name in EVERY.split():
            program.send(getattr(signal, name), group=group)
        assert program.end() == ([f"got {name}" for name in EVERY.split()], 5)


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGKILL"])
def test_a_signal_ends_it(tmp_path: Path, how: str, name: str, group: bool) -> None:
    number = getattr(signal, name)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0)); signal.signal(2, signal.SIG_DFL)"
    with started(tmp_path, how, limit) as program:
        program.send(number, group=group)
        assert program.process.stdout is not None
        assert program.process.stdout.read() == b""
        assert program.process.wait(20) == -number
        time.sleep(SOON)


@pytest.mark.parametrize("group", [False, True])
@pytest.mark.parametrize("name", ["SIGSTOP", "SIGTSTP", "SIGTTIN", "SIGTTOU"])
def test_it_is_stopped_and_goes_on(tmp_path: Path, how: str, name: str, group: bool) -> None:
    """As ctrl+z and a shell's ``fg`` do."""
    number = getattr(signal, name)
    with started(tmp_path, how, "says(signal.SIGCONT, signal.SIGTERM)") as program:
        for _ in range(2):
            program.send(number, group=group)
            assert program.stopped(seconds=20) == number
            program.send(signal.SIGCONT, group=group)
            assert program.stopped() is None
            program.send(signal.SIGTERM)
        assert program.end() == (["got SIGCONT", "got SIGTERM"] * 2, 5)
