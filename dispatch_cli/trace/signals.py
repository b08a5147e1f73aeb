"""Run a program that gets the signals which it would get if it had been started in the place of this process.

A signal comes to this process alone (``kill PID``), or to its whole group, the program too (``kill -GROUP``, ctrl+c).
Nothing in the signal itself says which. A *witness* tells: a process in the same group that notes the signals that come
to it. What it has noted came to the group; what it has not is passed on to the program.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

_FAULTS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"}
_TOGETHER = 0.01
"""Seconds in which a signal that is sent to several processes, one after the other, has come to all of them."""
_BOTH = 0.1
"""Seconds after which what the witness has noted is not about a signal to come: of two, one can have come to us."""
_LATE = 0.5
"""Seconds after which it is looked whether the program has ended, though nothing has told so."""
_SET_PARENT_DEATH_SIGNAL = 1


def run(command: Sequence[str]) -> int:
    """Run a program to its end. To be called in the main thread.

    It has the streams, the blocked and the ignored signals of this process. When this process is killed, it is killed.
    When it is stopped, as by ctrl+z, this process stops, too, and so a shell takes the terminal.
    Returns its exit code, -n where signal n has ended it. Errors: OSError when it cannot be started.
    """
    if sys.platform != "linux":
        return _run_without_signals(command)
    faults = {getattr(signal, name) for name in _FAULTS}
    held = {int(number) for number in signal.valid_signals() - faults - {signal.SIGKILL, signal.SIGSTOP}}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody is told an exit code
    try:
        begin = partial(_begin, os.getpid(), ctypes.CDLL(None).prctl, children, before)
        process = subprocess.Popen(command, close_fds=False, preexec_fn=begin)
        witness = _Witness(held, ctypes.CDLL(None).prctl)
        try:
            while process.poll() is None:
                sent = signal.sigtimedwait(held, _LATE)
                if sent is not None and sent.si_signo != signal.SIGCHLD:
                    time.sleep(_TOGETHER)
                    _pass_on([sent, *_waiting(held)], process, witness)
                _stop_with(process)
        finally:
            witness.end()
            _waiting(held)  # they came while the program ran, and would end this process now
        return process.returncode
    finally:
        signal.signal(signal.SIGCHLD, children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_without_signals(command: Sequence[str]) -> int:
    """Run a program that gets the interrupts of a terminal, as it does elsewhere than on Linux."""
    process = subprocess.Popen(command, close_fds=False)
    while True:
        with suppress(KeyboardInterrupt):
            return process.wait()


def _begin(launcher: int, prctl: Any, children: Any, blocked: set[int]) -> None:
    """Runs in the new process, before it becomes the program."""
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, children)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    _end_with(launcher, prctl)


def _end_with(launcher: int, prctl: Any) -> None:
    """Runs in a new process: it is killed when the one that started it ends."""
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != launcher:
        os.kill(os.getpid(), signal.SIGKILL)


_NOTES = """
import os, signal, sys
launcher, ask = int(sys.argv[1]), int(sys.argv[2])
signals = {int(one) for one in sys.argv[3].split(",")}
while True:
    sent = signal.sigwaitinfo(signals)
    os.write(1, bytes([0 if sent.si_signo == ask and sent.si_pid == launcher else sent.si_signo]))
"""
"""The program of a witness: it writes the number of each signal, and 0 when it is asked."""
_ASK = signal.SIGRTMAX if sys.platform == "linux" else signal.SIGTERM
"""Asks the witness. Of the signals that wait, a process takes those with the lower numbers first."""


class _Witness:
    """A process of this group that notes the signals that come to it. When this process ends, it is killed.

    held: the signals, which are blocked in this process and so in the witness from its beginning: none is missed.
    Where there is none, because the system has no room for a process, all signals count as sent to this process alone.
    """

    def __init__(self, held: set[int], prctl: Any) -> None:
        self._seen: dict[int, deque[float]] = defaultdict(deque)
        self._process: subprocess.Popen[bytes] | None = None
        words = [str(os.getpid()), str(int(_ASK)), ",".join(map(str, held))]
        pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
        with suppress(OSError):
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", _NOTES, *words],
                stdin=nowhere,
                stdout=pipe,
                stderr=nowhere,
                preexec_fn=partial(_end_with, os.getpid(), prctl),
            )

    def has_seen(self, number: int) -> bool:
        """True if a signal came to the group. To be asked once of each signal that has come."""
        times = self._seen[number]
        while times and times[0] < time.monotonic() - _BOTH:
            times.popleft()
        if not times:
            self._ask()
        has_come = bool(times)
        if has_come:
            times.popleft()
        return has_come

    def _ask(self) -> None:
        """Take in what has been noted until now."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        assert process.stdout is not None
        process.send_signal(_ASK)
        while (noted := process.stdout.read(1)) not in (b"", b"\0"):
            self._seen[noted[0]].append(time.monotonic())

    def end(self) -> None:
        if self._process is not None:
            assert self._process.stdout is not None
            self._process.kill()
            self._process.wait()
            self._process.stdout.close()
            self._process = None


def _waiting(held: set[int]) -> list[signal.struct_siginfo]:
    """The signals that have come and were not taken yet."""
    signals = []
    while (sent := signal.sigtimedwait(held, 0)) is not None:
        signals.append(sent)
    return signals


def _pass_on(came: Sequence[signal.struct_siginfo], process: subprocess.Popen[bytes], witness: _Witness) -> None:
    """Send the program what came to this process alone, or to a group that it would have led.

    What the program sends to its parent is for the parent of this process.
    """
    seen = [info.si_signo != signal.SIGCHLD and witness.has_seen(info.si_signo) for info in came]
    with suppress(OSError):  # it has ended, or has become another user's
        is_gone = os.getpgrp() == os.getpid() and os.getpgid(process.pid) != os.getpgrp()
        for info, of_group in zip(came, seen, strict=True):
            if info.si_signo == signal.SIGCHLD or (of_group and not is_gone):
                continue
            if info.si_pid != process.pid:
                process.send_signal(info.si_signo)
            elif os.getppid() > 1:
                os.kill(os.getppid(), info.si_signo)


def _stop_with(process: subprocess.Popen[bytes]) -> None:
    """Stop where the program has stopped, so that whoever waits for it knows.

    Not for SIGSTOP without a terminal: the program may be told to go on directly, which would not reach this process.
    """
    try:
        change = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:
        return  # it has ended
    if change is None:
        return
    number = change.si_status
    if (number == signal.SIGSTOP and not _is_in_foreground()) or signal.SIGCONT in signal.sigpending():
        return
    os.kill(os.getpid(), number)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})
    signal.pthread_sigmask(signal.SIG_BLOCK, {number})


def _is_in_foreground() -> bool:
    with suppress(OSError), Path("/dev/tty").open("rb") as terminal:
        return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    return False
