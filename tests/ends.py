"""Time limits: where hostile input takes hours, the test fails and does not stand still."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

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
