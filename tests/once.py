"""Files that take long to make are made once in a run for all tests, by the process that needs them first."""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

FOLDER = "DISPATCH_CLI_TESTS_ONCE"
"""The variable that names the folder of a run; `tests.conftest` sets it."""


def once(name: str, make: Callable[[Path], object]) -> Path:
    """The folder of this name, which *make* has filled. The other processes of the run wait until it is there.

    Where *make* fails, nothing is kept: the next test that needs it tries again.
    """
    path = _folder() / name
    with path.with_name(f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            with tempfile.TemporaryDirectory(dir=_folder()) as directory:
                begun = Path(directory) / name
                begun.mkdir()
                make(begun)
                begun.rename(path)
    return path


@cache
def _folder() -> Path:
    """That of the run; away from pytest one of this process."""
    named = os.environ.get(FOLDER)
    if named is None:
        named = tempfile.mkdtemp(prefix="dispatch-cli-once-")
        atexit.register(shutil.rmtree, named, ignore_errors=True)
    return Path(named)
