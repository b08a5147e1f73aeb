"""Where the recording of the last program is kept: in the user's cache folder, if there is one."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from dispatch_cli.extract.cache import default_folder
from dispatch_cli.extract.cache_files import is_own_folder

_LAST = "last.trace"
_ENDING = ".recording"
_FORGOTTEN = 7 * 24 * 3600
"""Seconds after which a recording that nobody ended is removed: its dispatch-cli was killed."""


class RecordingPlace:
    """A file for the recording of one run. is_kept: whether it stays there for the next one to find it.

    Errors: OSError where no file can be made, not even a temporary one.
    """

    def __init__(self) -> None:
        folder = _folder()
        self.is_kept = folder is not None and _is_made(folder)
        handle, self.file = tempfile.mkstemp(_ENDING, "dispatch-cli-", folder if self.is_kept else None)
        os.close(handle)

    @property
    def name(self) -> str:
        """The file that it is in the end."""
        return os.fspath(Path(self.file).with_name(_LAST)) if self.is_kept else self.file

    def keep(self) -> None:
        """Make it the last recording, if it is to be kept, when it has been read: then another run can replace it."""
        if self.is_kept:
            try:
                Path(self.file).replace(self.name)
            except OSError:
                self.is_kept = False

    def remove(self) -> None:
        """Remove the file, unless it has become the last recording."""
        with suppress(OSError):
            Path(self.file).unlink(missing_ok=True)


def last_recording() -> str | None:
    """The file of the last recording; None where there is none."""
    folder = _folder()
    if folder is None or not is_own_folder(folder) or not (folder / _LAST).is_file():
        return None
    return os.fspath(folder / _LAST)


def _folder() -> Path | None:
    folder = default_folder()
    return None if folder is None else Path(folder) / "trace"


def _is_made(folder: Path) -> bool:
    """Whether there is such a folder of this user now, without what runs left behind that were killed."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        if not is_own_folder(folder) or not os.access(folder, os.W_OK):
            return False
        for one in folder.glob(f"*{_ENDING}"):
            if one.lstat().st_mtime < time.time() - _FORGOTTEN:
                one.unlink()
    except OSError:
        return False
    return True
