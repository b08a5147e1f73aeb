"""Files of a folder that others may have made: what is read is a regular file of this user, and nothing else."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_READ |= getattr(os, "O_BINARY", 0)


def user_folder() -> str | None:
    """The user's own folder for what can be made anew; None where there is none."""
    variable, below = ("LOCALAPPDATA", "") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111
        base = os.path.join(home, below) if below and os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    return os.path.join(base, "dispatch-cli") if base else None  # noqa: PTH118


def read_own(path: Path, most: int) -> bytes:
    """The content of a regular file of this user.

    Errors: OSError, also for anything else than such a file, and for one with more than *most* bytes.
    """
    handle = os.open(path, _READ)
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _is_own(status):
            raise OSError("it is no file of this user")
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError("it is too large")
    return data


def is_own_folder(path: Path) -> bool:
    """True if it is a folder of this user, and no link to one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and _is_own(status)


def _is_own(status: os.stat_result) -> bool:
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
