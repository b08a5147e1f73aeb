"""The folder in which `trace` keeps its recorder and its last recording.

Such a folder could come with a project, and have what its author likes: one inside a git checkout is not used.
"""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

VARIABLE = "DISPATCH_CLI_CACHE_DIR"
"""The folder, instead of the one of the user; `NO_CACHE` for none."""
NO_CACHE = "none"


def usable_folder() -> Path | None:
    """The folder; None for none, and where it is inside a git checkout. A home may be under git."""
    own = _user_folder()
    folder = os.environ.get(VARIABLE) or own
    if folder is None or folder == NO_CACHE:
        return None
    above = (Path(folder) / "trace").resolve().parents
    return None if folder != own and any((part / ".git").exists() for part in above) else Path(folder)


def _user_folder() -> str | None:
    """The user's own folder for what can be made anew; None where there is none."""
    variable, below = ("LOCALAPPDATA", "") if sys.platform == "win32" else ("XDG_CACHE_HOME", ".cache")
    base = os.environ.get(variable, "")
    if not os.path.isabs(base):  # noqa: PTH117
        home = os.path.expanduser("~")  # noqa: PTH111
        base = os.path.join(home, below) if below and os.path.isabs(home) else ""  # noqa: PTH117, PTH118
    return os.path.join(base, "dispatch-cli") if base else None  # noqa: PTH118


def is_own_folder(path: Path) -> bool:
    """True if it is a folder of this user, and no link to one."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and (not hasattr(os, "geteuid") or status.st_uid == os.geteuid())
