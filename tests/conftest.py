"""What holds for all tests."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

from tests.cli import forked


def pytest_configure() -> None:
    """Signals are as in a terminal: a shell ignores SIGINT for what it starts in the background, nohup SIGHUP."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    cache = tempfile.mkdtemp(prefix="dispatch-cli-cache-")
    os.environ["DISPATCH_CLI_CACHE_DIR"] = os.environ["XDG_CACHE_HOME"] = cache  # not that of who runs the tests
    atexit.register(shutil.rmtree, cache, ignore_errors=True)


def pytest_unconfigure() -> None:
    """Nothing that tests share outlives them."""
    forked.stop()
