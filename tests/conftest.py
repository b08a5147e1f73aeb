"""What holds for all tests."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Signals are as in a terminal: a shell ignores SIGINT for what it starts in the background, nohup SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
