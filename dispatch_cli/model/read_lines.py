"""The lines of files that were read, for those who show them.

A declaration file is not read again for that: its name can lead to another file by then, and ``-`` is not the name of
one. Source files are many and large: their reader is kept instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

MOST = 32 << 20
"""Characters of files that are kept, the newest first."""


class _ReadText(NamedTuple):
    """A text that was read. lines: makes its lines when they are asked for. of_source: by reading them again."""

    characters: int
    lines: Callable[[], Sequence[str]]
    of_source: bool = False


_KEPT: dict[str, _ReadText] = {}


def keep(file: str, characters: int, lines: Callable[[], Sequence[str]]) -> None:
    """Keep the lines of a file that was read, under the name that its places have."""
    _KEPT.pop(file, None)
    _KEPT[file] = _ReadText(characters, lines)
    kept = sum(text.characters for text in _KEPT.values())
    for name in list(_KEPT):
        if kept <= MOST:
            break
        kept -= _KEPT.pop(name).characters


def keep_source(file: str, read: Callable[[str], Sequence[str]]) -> None:
    """Keep how the lines of a source file are read, where the file was not read as another one."""
    kept = _KEPT.get(file)
    if kept is None or kept.of_source:
        _KEPT[file] = _ReadText(0, partial(_read, read, file), True)


def forget(file: str) -> None:
    """Keep the lines of a file no more: it is not there, or cannot be read."""
    _KEPT.pop(file, None)


@lru_cache(maxsize=16)
def _read(read: Callable[[str], Sequence[str]], file: str) -> Sequence[str]:
    return read(file)


def lines_of(file: str) -> Sequence[str]:
    """The lines of a file as they were read; none where it was not, or was too long ago."""
    kept = _KEPT.get(file)
    return kept.lines() if kept is not None else ()
