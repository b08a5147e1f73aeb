"""Start a program with the recorder in the Python that it needs, and wait for its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

RECORDER = Path(__file__).with_name("recorder.py")
"""The script that runs a program and records it; it may be run beside any other command, too."""
FORWARDED = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH")
"""Signals that are for the program when they come to this process alone."""
_LATE = 0.5
"""Seconds after which it is looked whether the program has ended, though nothing has told so."""


def launch(
    python: str,
    program: Sequence[str],
    save: Path,
    *,
    module: bool = False,
    megabytes: int | None = None,
    lines: bool = True,
    state: bool = True,
    kernels: str | None = None,
) -> int:
    """Run a program under that Python as ``PYTHON SCRIPT ARGS`` does, recorded; its streams are those of this process.

    program: a script, or with *module* the name of a module, and its arguments. save: where the recording goes.
    megabytes: its bound. lines: whether places in Python are recorded. state: whether the registry is captured at the
    end, which takes some seconds. kernels: the logging kernels, with which every kernel that runs is recorded.
    Returns the program's exit code as shells tell it: 128 + n where signal n has ended it.
    Errors: OSError when the Python cannot be started.
    """
    options = ["--save", str(save)]
    options += ["--max-size", str(megabytes)] if megabytes is not None else []
    options += [] if lines else ["--no-lines"]
    options += [] if state else ["--no-state"]
    options += [] if kernels is None else ["--kernels", kernels]
    command = [python, str(RECORDER), *options, *(["-m"] if module else ["--"]), *program]
    sys.stdout.flush()
    sys.stderr.flush()
    with _noted() as early:
        process = subprocess.Popen(command, close_fds=False)
        with _held() as held:
            for number in early:
                process.send_signal(number)
            while held and process.poll() is None:
                sent = signal.sigtimedwait(held, _LATE)
                if sent is None or sent.si_signo in (signal.SIGCHLD, signal.SIGCONT):
                    continue
                if sent.si_code <= 0 and not _reached_the_program(sent):  # the kernel's own are for the whole group
                    process.send_signal(sent.si_signo)
            code = process.wait()
    return 128 - code if code < 0 else code


@contextmanager
def _noted() -> Iterator[list[int]]:
    """Signals for the program that come before it is there; interrupts do nothing: a terminal sends them to it as well.

    SIGINT that is sent to this process alone does not reach the program. Signals that are ignored, as under nohup, are
    ignored by the program, too; a handler that does nothing is not inherited by it.
    """
    early: list[int] = []
    handlers = {number: lambda number, _: early.append(number) for number in _numbers(FORWARDED)}
    handlers |= {number: lambda _number, _: None for number in _numbers(("SIGINT", "SIGQUIT"))}
    before = {
        number: signal.signal(number, handler)
        for number, handler in handlers.items()
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield early
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _held() -> Iterator[set[int]]:
    """Signals that are kept until they are waited for; none where Python cannot wait for them."""
    if not hasattr(signal, "sigtimedwait"):
        yield set()
        return
    forwarded = {number for number in _numbers(FORWARDED) if signal.getsignal(number) is not signal.SIG_IGN}
    held = {*forwarded, signal.SIGCHLD, signal.SIGCONT}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        yield held
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reached_the_program(sent: signal.struct_siginfo) -> bool:
    """Whether a signal went to the whole process group, the program too, as those of ``timeout`` do.

    It is known of a sender in this group that sends more than one signal at once: ``timeout`` sends to this process, to
    the group, and SIGCONT. Of others it is not known, and the program may get the signal twice.
    """
    try:
        if os.getpgid(sent.si_pid) != os.getpgrp():
            return False
    except ProcessLookupError:
        return False
    more = signal.sigtimedwait({sent.si_signo, signal.SIGCONT}, 0.1)
    return more is not None and more.si_pid == sent.si_pid


def _numbers(names: Sequence[str]) -> set[int]:
    """The numbers of signals, as far as the system has them."""
    return {int(getattr(signal, name)) for name in names if hasattr(signal, name)}
