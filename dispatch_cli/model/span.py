"""Where a declared thing stands in a file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a declaration file.

    file: the path as the user wrote it; ``-`` is standard input.
    line, column: 1-based, counted in characters.
    """

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"
