"""Record of the files that an answer is made from, so that the answer does not take the place of one."""

from __future__ import annotations

from contextvars import ContextVar
from pathlib import Path

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
