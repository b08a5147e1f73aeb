"""The end of the terminal that the application runs in."""

from __future__ import annotations

import select
import signal
import sys

SECONDS = 1.0
"""Seconds between two checks that the terminal is still there."""


def end_without_terminal() -> None:
    """End as by SIGHUP if the terminal is gone, also where no such signal comes, or nobody heeds it.

    textual would go on, even when the application has ended: it reads from the closed terminal again and again, with
    all of a processor.
    """
    if not hasattr(select, "poll") or sys.__stdin__ is None or not _IS_TERMINAL:
        return
    poll = select.poll()
    poll.register(sys.__stdin__.fileno(), 0)  # errors and the end are told in any case
    if poll.poll(0):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.raise_signal(signal.SIGHUP)


_IS_TERMINAL = sys.__stdin__ is not None and sys.__stdin__.isatty()
"""True if there was a terminal at the start."""
