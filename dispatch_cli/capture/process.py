"""A program as a process of its own, for a limited time. It ends with its group of processes.

What has left that group (``setsid``, a daemon) goes on.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from threading import Thread, current_thread, main_thread
from typing import IO, NamedTuple

MAX_STDERR = 1 << 16
"""Bytes of standard error that are kept, from the end."""
REST = 1.0
"""Seconds to wait for the rest of standard error after the end. A process that the program left behind can keep it open
for ever."""


class Ended(NamedTuple):
    """End of a program.

    code: its exit code, negative for a signal; None where its time was over. errors: the end of its standard error.
    """

    code: int | None
    errors: str


def run(command: Sequence[str], seconds: float, take: Callable[[bytes], bool]) -> Ended:
    """Run a program to its end, or until its time is over. The processes that it started in its group end with it.

    take: gets each line of standard error, in another thread; what it answers True for is not kept.
    Errors: OSError when the program cannot be started.
    """
    process = None
    try:
        with _undisturbed():
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
            )
        assert process.stderr is not None
        errors = _Errors(process.stderr, take)
        try:
            code: int | None = process.wait(seconds)
        except subprocess.TimeoutExpired:
            code = None
    finally:
        if process is not None:
            _end(process)
    return Ended(code, errors.text())


@contextmanager
def _undisturbed() -> Iterator[None]:
    """A signal that raises an exception does so at the end of this block: until then nobody could end the program."""
    came: list[int] = []
    handlers = {}
    if current_thread() is main_thread():
        signals = {number: signal.getsignal(number) for number in signal.valid_signals()}
        handlers = {number: handler for number, handler in signals.items() if callable(handler)}
    for signal_number in handlers:
        signal.signal(signal_number, lambda number, _: came.append(number))
    try:
        yield
    finally:
        for signal_number, handler in handlers.items():
            signal.signal(signal_number, handler)
        for number in came:
            signal.raise_signal(number)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process with its whole group, whether it still runs or not."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


class _Errors:
    """Reads standard error for as long as the program runs, and keeps its end."""

    def __init__(self, stream: IO[bytes], take: Callable[[bytes], bool]) -> None:
        self._stream = stream
        self._take = take
        self._kept = b""
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(OSError, ValueError):  # the stream is closed
            while chunk := self._stream.read(1 << 14):
                *lines, rest = (self._kept + chunk).split(b"\n")
                others = [line for line in lines if not self._is_taken(line)]
                self._kept = b"\n".join([*others, rest])[-MAX_STDERR:]

    def _is_taken(self, line: bytes) -> bool:
        try:
            return self._take(line)
        except (OSError, ValueError):  # reading goes on: a program that cannot write would wait
            return False

    def text(self) -> str:
        """Text that was kept, once the program has ended."""
        self._reader.join(REST)
        self._stream.close()
        return self._kept.decode("utf-8", "replace")
