"""Steps of this program: lines that run, counted, so that no machine is too slow."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


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
