"""The files that were read: which an answer is made from, so that it does not take the place of one, and their lines.

A declaration file is not read again to show a line of it: its name can lead to another file by then, and ``-`` is not
the name of one. Source files are many and large: of these it is kept how they are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from pathlib import Path

MOST_KEPT = 8 << 20
"""Characters of a file whose lines are kept."""
_FILES: ContextVar[set[str] | None] = ContextVar("files", default=None)


def note(file: str) -> None:
    """Note a file that is read. Whoever reads a file that is named from outside calls this."""
    files = _FILES.get()
    if files is not None:
        files.add(file)


def is_noted(file: str) -> bool:
    """True if that file has been read since the start, under this name or another."""
    return any(_is_same(file, other) for other in _FILES.get() or ())


def noted() -> frozenset[str]:
    """The files that have been read since the start, each as it was named."""
    return frozenset(_FILES.get() or ())


def _is_same(path: str, other: str) -> bool:
    try:
        return Path(path).samefile(other)
    except (OSError, ValueError):
        return False


def start() -> None:
    """Files are noted from now on; those that have been are forgotten."""
    _FILES.set(set())


def forget(file: str) -> None:
    """Take back the note of a file: it was looked at, and nothing is made from it."""
    files = _FILES.get()
    if files is not None:
        files.discard(file)


_LINES: dict[str, Callable[[], Sequence[str]]] = {}


def keep_lines(file: str, characters: int, lines: Callable[[], Sequence[str]]) -> None:
    """Keep the lines of a file that was read, under the name that its places have, where it is no very long one."""
    _LINES.pop(file, None)
    if characters <= MOST_KEPT:
        _LINES[file] = lines


def forget_lines(file: str) -> None:
    """Keep the lines of a file no more: it is not there, or cannot be read."""
    _LINES.pop(file, None)


def lines_of(file: str) -> Sequence[str]:
    """The lines of a file as they were read; none where it was not, or is too long."""
    return _LINES[file]() if file in _LINES else ()
