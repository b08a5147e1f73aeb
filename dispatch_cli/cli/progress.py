"""Progress shown on a terminal while something takes long: one line, which is removed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec

_Step = ParamSpec("_Step")
PATIENCE = 0.3
"""Seconds after which a terminal is told what takes so long."""


@contextmanager
def progress_on(stream: Any, line: Callable[_Step, str], often: float = 0) -> Iterator[Callable[_Step, None] | None]:
    """A function to call before each step; None where the stream is no terminal.

    line: the text for a step. often: least number of seconds between two updates.
    """
    if not stream.isatty():
        yield None
        return
    import time

    from dispatch_cli.render.text_safety import safe

    start, last = time.monotonic(), float("-inf")
    shown = False

    def progress(*args: _Step.args, **kwargs: _Step.kwargs) -> None:
        nonlocal shown, last
        now = time.monotonic()
        if now - start > PATIENCE and now - last >= often:
            shown, last = True, now
            stream.write(f"\r\x1b[K{safe(line(*args, **kwargs))}")
            stream.flush()

    try:
        yield progress
    finally:
        if shown:
            stream.write("\r\x1b[K")
            stream.flush()
