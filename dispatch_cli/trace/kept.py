"""Place of the recording of the last program: in the user's cache folder, if there is one."""

from __future__ import annotations

import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from dispatch_cli.extract.cache import is_own_folder, usable_folder

_LAST = "last.trace"
_ENDING = ".recording"
_ROOM = 1 << 16
"""Bytes that the recorder reserves when it begins."""
_FORGOTTEN = 7 * 24 * 3600
"""Seconds after which a recording that nobody ended is removed: its dispatch-cli was killed."""


class RecordingPlace:
    """A file for the recording of one run.

    name: the file that it is in the end. not_kept: why the file is not there for the next run; None where it is.
    Errors: OSError where there is no temporary folder either.
    """

    def __init__(self) -> None:
        self.not_kept: str | None = None
        try:
            folder = _made()
        except OSError as error:
            folder, self.not_kept = None, _reason(error)
        handle, self.file = tempfile.mkstemp(_ENDING, "dispatch-cli-", folder)
        os.close(handle)
        self.name = self.file if folder is None else os.fspath(folder / _LAST)

    def keep(self) -> None:
        """Make it the last recording, if it is to be kept, when it has been read: then another run can replace it."""
        try:
            Path(self.file).replace(self.name)
        except OSError as error:
            self.not_kept = _reason(error)

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
    cache = usable_folder()
    return None if cache is None else cache / "trace"


def _made() -> Path:
    """The folder, which is made if need be, without what runs left behind that were killed. Errors: OSError."""
    folder = _folder()
    if folder is None:
        raise OSError("there is no cache folder that can be used; see `dispatch-cli help sources`")
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not is_own_folder(folder):
        raise OSError(f"{folder}: it is no folder of this user")
    try:
        with tempfile.TemporaryFile(dir=folder) as file:  # a full disk has room for names only
            file.write(bytes(_ROOM))
    except OSError as error:
        raise OSError(f"{folder}: {error.strerror or error}") from None
    for recording in folder.glob(f"*{_ENDING}"):
        if recording.lstat().st_mtime < time.time() - _FORGOTTEN:
            recording.unlink()
    return folder


def _reason(error: OSError) -> str:
    name = "" if error.filename is None else f"{error.filename}: "
    return name + (error.strerror or str(error))
