"""Place of the recording of the last program: in the user's cache folder, if there is one."""

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
_ROOM = 1 << 16
"""Bytes that the recorder reserves when it begins."""
_FORGOTTEN = 7 * 24 * 3600
"""Seconds after which a recording that nobody ended is removed: its dispatch-cli was killed."""


class RecordingPlace:
    """A file for the recording of one run, with room to begin it.

    file: None where there is room for none, not even in a temporary folder. not_kept: why the file is not there for the
    next run; None where it is.
    """

    def __init__(self) -> None:
        self.file: str | None = None
        self.not_kept: str | None = None
        folder = _folder()
        try:
            self.file = _new_file(_made(folder))
        except OSError as error:
            self.not_kept = _reason(folder, error)
            with suppress(OSError):
                self.file = _new_file(None)

    @property
    def name(self) -> str | None:
        """The file that it is in the end."""
        if self.file is None or self.not_kept is not None:
            return self.file
        return os.fspath(Path(self.file).with_name(_LAST))

    def keep(self) -> None:
        """Make it the last recording, if it is to be kept, when it has been read: then another run can replace it."""
        if self.file is not None and self.name is not None and self.not_kept is None:
            try:
                Path(self.file).replace(self.name)
            except OSError as error:
                self.not_kept = _reason(_folder(), error)

    def remove(self) -> None:
        """Remove the file, unless it has become the last recording."""
        if self.file is not None:
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


def _made(folder: Path | None) -> Path:
    """The folder, which is made if need be, without what runs left behind that were killed. Errors: OSError."""
    if folder is None:
        raise OSError("there is no cache folder; set HOME or XDG_CACHE_HOME")
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not is_own_folder(folder):
        raise OSError("it is no folder of this user")
    for recording in folder.glob(f"*{_ENDING}"):
        if recording.lstat().st_mtime < time.time() - _FORGOTTEN:
            recording.unlink()
    return folder


def _new_file(folder: Path | None) -> str:
    """An empty file on a disk with room for a recording's beginning. folder: None is a temporary one. Errors: OSError.

    On a full disk a file can be made, but nothing written.
    """
    handle, name = tempfile.mkstemp(_ENDING, "dispatch-cli-", folder)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(bytes(_ROOM))
            file.flush()
            file.truncate(0)
    except OSError:
        Path(name).unlink()
        raise
    return name


def _reason(folder: Path | None, error: OSError) -> str:
    text = error.strerror or str(error)
    return text if folder is None else f"{folder}: {text}"
