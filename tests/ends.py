"""Limits of hostile input: the test fails where it takes hours; and counted steps, so that no machine is too slow."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

LIMIT = 20
"""Seconds that this process may compute: many times what any of these tests takes, so that none is about speed."""


@contextmanager
def ends() -> Iterator[None]:
    """Limit the time of its block; regular expressions are interrupted, too. Errors: AssertionError after `LIMIT`."""

    def late(*_: object) -> None:
        raise AssertionError(f"not at its end after {LIMIT} seconds of computing")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def counted() -> Iterator[list[int]]:
    """Counts the lines of this program that run; what runs in C, such as regular expressions, is none."""
    steps = [0]
    ours: dict[str, bool] = {}

    def line(_frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            steps[0] += 1
        return line

    def entered(frame: FrameType, _event: str, _argument: Any) -> Any:
        file = frame.f_code.co_filename
        if file not in ours:
            ours[file] = "dispatch_cli" in file
        return line if ours[file] else None

    before = sys.gettrace()
    sys.settrace(entered)
    try:
        yield steps
    finally:
        sys.settrace(before)
