"""Place of a declared thing in a file, the part of its line that is shown, and the files and states it came through."""

from __future__ import annotations

from typing import NamedTuple


class Span(NamedTuple):
    """A place in a declaration file.

    file: the path as the user wrote it; ``-`` is standard input.
    line, column: 1-based, counted in characters.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


MAX_LINE = 160
"""Characters of an offending line that are kept."""


def cut_start(column: int) -> int:
    """Number of characters that a snippet leaves out at the front of its line, for an error at *column* (1-based).

    It depends on the column alone, so that the caret can be placed in the snippet.
    """
    return 0 if column <= MAX_LINE - 40 else column - 1 - MAX_LINE // 2


def cut_line(line: str, column: int) -> str:
    """The part of *line* around *column* that a snippet shows, at most `MAX_LINE` characters."""
    start = cut_start(column)
    return line[start : start + MAX_LINE]


class Inherited(NamedTuple):
    """A file or an embedded state that the user did not name: others extend it.

    name: the file as places name it, or the state. is_state: it is an embedded state.
    through: the entries of ``extends`` that led to it, that of the user's own file first.
    """

    name: str
    is_state: bool
    through: tuple[Span, ...]


class Origin(NamedTuple):
    """Origin of a declared thing.

    state: the embedded state that it is from; None for what has a place in a file, and for what was registered by hand.
    through: the entries of ``extends`` that led to its file or state, that of the user's own file first; none for what
        the user named.
    """

    state: str | None = None
    through: tuple[Span, ...] = ()


OWN = Origin()
"""Origin of what the user named."""
