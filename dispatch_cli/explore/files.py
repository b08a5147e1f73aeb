"""Files that change on disk while what was read from them is shown."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

Stamp = tuple[int, int] | None
"""Time when a file was last written, and its size; None if it is not there."""


class WatchedFiles:
    """Files, and their stamps when they were read."""

    def __init__(self) -> None:
        self._stamps: dict[str, Stamp] = {}

    def read(self, files: Iterable[str]) -> None:
        """Note that these files are read now, and no others."""
        self._stamps = {file: stamp_of(file) for file in files}

    def add(self, file: str) -> None:
        """Watch a further file."""
        self._stamps.setdefault(file, stamp_of(file))

    def changed(self) -> list[str]:
        """Files that are not as they were."""
        return [file for file, stamp in self._stamps.items() if stamp_of(file) != stamp]


def stamp_of(file: str) -> Stamp:
    """Current stamp of a file."""
    try:
        stat = Path(file).stat()
    except (OSError, ValueError):
        return None
    return stat.st_mtime_ns, stat.st_size
