"""Run a program that gets the signals which it would get if it had been started in the place of this process.

A signal comes to this process alone (``kill PID``), or to its whole group, the program too (``kill -GROUP``, ctrl+c).
Nothing in the signal itself says which. A *witness* tells: a process in the same group in which all signals are
blocked, so that those to the group are left waiting there. The others are passed on to the program.
"""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

_FAULTS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"}
_NEVER_HELD = {*_FAULTS, "SIGKILL", "SIGSTOP"}
_STOPS = {"SIGTSTP", "SIGTTIN", "SIGTTOU"}
_TOGETHER = 0.01
"""Seconds in which a signal that is sent to several processes, one after the other, has come to all of them."""
_LATE = 0.5
"""Seconds after which it is looked whether the program has ended, though nothing has told so."""
_SET_PARENT_DEATH_SIGNAL = 1
_WAITING = re.compile(r"^ShdPnd:\s*(\w+)", re.MULTILINE)


def run(command: Sequence[str]) -> int:
    """Run a program to its end. To be called in the main thread.

    It has the streams, the blocked and the ignored signals of this process. When this process is killed, it is killed.
    When it is stopped by ctrl+z, this process stops, too, and so a shell takes the terminal.
    Returns its exit code, -n where signal n has ended it. Errors: OSError when it cannot be started.
    """
    if sys.platform != "linux":
        return _run_without_signals(command)
    held = {int(number) for number in signal.valid_signals()} - _numbers(_NEVER_HELD)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody is told an exit code
    prctl = ctypes.CDLL(None).prctl
    try:
        begin = partial(_begin, os.getpid(), prctl, children, before)
        process = subprocess.Popen(command, close_fds=False, preexec_fn=begin)
        witness = _witness(prctl)
        try:
            while process.poll() is None:
                sent = signal.sigtimedwait(held, _LATE)
                if sent is not None and sent.si_signo != signal.SIGCHLD:
                    time.sleep(_TOGETHER)
                    came = [sent, *_waiting(held)]
                    old, witness = witness, _witness(prctl)
                    _pass_on(came, process, _end(old))
                _stop_with(process)
        finally:
            _end(witness)
            _waiting(held)  # they came while the program ran, and would end this process now
        return process.returncode
    finally:
        signal.signal(signal.SIGCHLD, children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _numbers(names: set[str]) -> set[int]:
    return {int(getattr(signal, name)) for name in names}


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


def _witness(prctl: Any) -> int:
    """A new witness: a process that takes no signals."""
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        _end_with(launcher, prctl)
        while True:
            signal.pause()
    return child


def _end(witness: int) -> set[int]:
    """The signals that have come to its group."""
    match = _WAITING.search(Path(f"/proc/{witness}/status").read_text("ascii", "replace"))
    os.kill(witness, signal.SIGKILL)
    os.waitpid(witness, 0)
    bits = int(match[1], 16) if match else 0
    return {number for number in signal.valid_signals() if bits >> (number - 1) & 1}


def _waiting(held: set[int]) -> list[signal.struct_siginfo]:
    """The signals that have come and were not taken yet."""
    signals = []
    while (sent := signal.sigtimedwait(held, 0)) is not None:
        signals.append(sent)
    return signals


def _pass_on(came: Sequence[signal.struct_siginfo], process: subprocess.Popen[bytes], of_group: set[int]) -> None:
    """Send the program what came to this process alone. What it sends to its parent goes to that of this process."""
    with suppress(OSError):  # it has ended, or has become another user's
        for sent in came:
            if sent.si_signo == signal.SIGCHLD or sent.si_signo in of_group:
                continue
            if sent.si_pid != process.pid:
                process.send_signal(sent.si_signo)
            elif os.getppid() > 1:
                os.kill(os.getppid(), sent.si_signo)


def _stop_with(process: subprocess.Popen[bytes]) -> None:
    """Stop where a terminal has stopped the program, so that whoever waits for it knows."""
    try:
        change = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WNOHANG)
    except ChildProcessError:
        return  # it has ended
    if change is None or change.si_status not in _numbers(_STOPS) or signal.SIGCONT in signal.sigpending():
        return
    os.kill(os.getpid(), change.si_status)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {change.si_status})
    signal.pthread_sigmask(signal.SIG_BLOCK, {change.si_status})
