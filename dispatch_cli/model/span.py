"""Where a declared thing stands in a file."""

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
