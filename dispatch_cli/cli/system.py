"""Effects of the system on a run: streams that take nothing, and signals that end it.

Everything that is printed, by whomever, goes through the two classes of streams here.
"""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import click

_BASE = 128
"""A shell's exit code for a program that a signal ended is this and the signal's number."""
EXIT_INTERRUPTED = _BASE + signal.SIGINT


class CannotWrite(click.UsageError):
    """The file, or standard output, does not take the answer."""


class ReaderGone(Exception):
    """Nobody reads standard output any more. That is no error, and nothing more need be made for it."""


class _StandardOutput(io.FileIO):
    """Stream of standard output. Errors: CannotWrite, ReaderGone."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except BrokenPipeError:
            _lead_nowhere(self)
            raise ReaderGone from None
        except OSError as error:
            _lead_nowhere(self)
            raise CannotWrite(f"cannot write to standard output: {error.strerror or error}") from None


class _StandardError(io.FileIO):
    """Stream of standard error. A message that cannot be written there is dropped, and changes no exit code."""

    def write(self, data: Any) -> Any:
        try:
            return super().write(data)
        except OSError:
            _lead_nowhere(self)
            return len(data)


def _lead_nowhere(stream: io.FileIO) -> None:
    """Let a stream take everything from now on: Python writes once more what is left when it closes the stream."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Standard streams that are always there and whose errors are the two above, for the time of the block."""
    # a stream that was closed before the start is None in Python; what goes there goes nowhere
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    former = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _guarded(sys.stdout, _StandardOutput), _guarded(sys.stderr, _StandardError)
    try:
        yield
    finally:
        sys.stderr.flush()
        sys.stdout, sys.stderr = former


def _guarded(stream: Any, kind: type[io.FileIO]) -> Any:
    """A stream of a file, pipe or terminal with that at its end; others, such as a console of Windows, as they are."""
    buffer = getattr(stream, "buffer", None)
    if type(getattr(buffer, "raw", buffer)) is not io.FileIO:
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(kind(stream.fileno(), "wb", closefd=False)),
        stream.encoding,
        stream.errors,
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


@contextmanager
def ending_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP raise SystemExit in this block; who ignores them (nohup) goes on ignoring them."""
    names = ("SIGTERM", "SIGHUP") if threading.current_thread() is threading.main_thread() else ()
    signals = [getattr(signal, name) for name in names if hasattr(signal, name)]
    taken = [number for number in signals if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, _: object) -> NoReturn:
    signal.signal(number, signal.SIG_IGN)  # a second one must not disturb the end
    raise SystemExit(_BASE + number)
