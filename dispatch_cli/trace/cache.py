"""The folder in which `trace` keeps its recorder and its last recording."""

from __future__ import annotations

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

_RECORDINGS = "trace"
_LAST = "last.trace"


def own_folder(name: str) -> Path:
    """A folder in the cache of this user, which is made if need be.

    DISPATCH_CLI_CACHE_DIR names another cache, which is not used inside a git checkout: it could come with a project,
    and have what its author likes. Errors: OSError.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "dispatch-cli")  # noqa: PTH111, PTH117
    if named := os.environ.get("DISPATCH_CLI_CACHE_DIR"):
        cache = Path(named)
        if any((part / ".git").exists() for part in (cache / name).resolve().parents):
            raise OSError(f"{cache} is inside a git checkout")
    folder = cache / name
    folder.mkdir(0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    others_write = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != getattr(os, "geteuid", int)() or others_write:
        raise OSError(f"{folder}: others than this user can write to it")
    return folder


def run_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for one run, in the cache if that can be. Errors: OSError."""
    with suppress(OSError):
        folder = own_folder(_RECORDINGS)
        return tempfile.TemporaryDirectory(prefix="dispatch-cli-", dir=folder, ignore_cleanup_errors=True)
    return tempfile.TemporaryDirectory(prefix="dispatch-cli-", ignore_cleanup_errors=True)


def keep(file: str) -> Path:
    """Make a recording the last one; returns its new path. Errors: OSError."""
    return Path(file).replace(own_folder(_RECORDINGS) / _LAST)


def last_recording() -> str | None:
    """The file of the last recording; None where there is none."""
    with suppress(OSError):
        file = own_folder(_RECORDINGS) / _LAST
        return os.fspath(file) if file.is_file() else None
    return None
