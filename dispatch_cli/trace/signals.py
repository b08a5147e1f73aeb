"""Run a program that gets the signals which are sent to this process.

A terminal sends its signals (ctrl+c, ctrl+z) to a whole group of processes, the program too; the kernel is their
sender. What another process sends to this one is passed on. What is sent to the group by a process comes twice.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

_NOT_PASSED_ON = (
    *("SIGKILL", "SIGSTOP", "SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGTRAP", "SIGSYS"),
    *("SIGCHLD", "SIGCONT", "SIGTSTP", "SIGTTIN", "SIGTTOU"),
)
"""Signals that are about this process alone, or stop it."""
_LATE = 0.5
"""Seconds after which it is looked whether the program has ended, though nothing has told so."""
_SET_PARENT_DEATH_SIGNAL = 1


def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program to its end. To be called in the main thread.

    It has the streams, the blocked and the ignored signals of this process, and on Linux it is killed with it.
    Returns its exit code, -n where signal n has ended it. Errors: OSError when it cannot be started.
    """
    if sys.platform != "linux":
        return _run_without_signals(command, environment)
    passed_on = signal.valid_signals() - {getattr(signal, name) for name in _NOT_PASSED_ON}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*passed_on, signal.SIGCHLD})
    children = signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody is told an exit code
    try:
        begin = partial(_begin, os.getpid(), ctypes.CDLL(None).prctl, children, before)
        process = subprocess.Popen(command, close_fds=False, preexec_fn=begin, env=environment)
        while process.poll() is None:
            sent = signal.sigtimedwait({*passed_on, signal.SIGCHLD}, _LATE)
            is_of_process = sent is not None and sent.si_code <= 0  # the kernel's codes are positive
            if sent is not None and is_of_process and sent.si_signo in passed_on and sent.si_pid != process.pid:
                with suppress(OSError):  # it has ended, or has become another user's
                    process.send_signal(sent.si_signo)
        return process.returncode
    finally:
        while signal.sigtimedwait(passed_on, 0) is not None:
            pass  # it came while the program ran, and would end this process now
        signal.signal(signal.SIGCHLD, children)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_without_signals(command: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program that gets the interrupts of a terminal, as it does elsewhere than on Linux."""
    process = subprocess.Popen(command, close_fds=False, env=environment)
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
    prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != launcher:
        os.kill(os.getpid(), signal.SIGKILL)
