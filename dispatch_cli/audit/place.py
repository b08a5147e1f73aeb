"""Places that the audit finds."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.model.span import Span

MAX_TEXT = 160
"""Characters of a line that are kept."""


class Unaccounted(NamedTuple):
    """A place that looks like a registration and is not known to anyone.

    what: the part of the text that looks so, such as ``.impl(``. text: the line, without blanks around it, shortened.
    """

    at: Span
    what: str
    text: str


def unaccounted(file: str, line: int, column: int, what: str, lines: list[str]) -> Unaccounted:
    """The place at a line (from 1) and column (from 1) of a file, which has these lines."""
    return Unaccounted(Span(file, line, column), what, lines[line - 1].strip()[:MAX_TEXT])
