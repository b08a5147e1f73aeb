"""Cutting a long line for a snippet, so that whoever draws it can place the caret."""

from __future__ import annotations

MAX_LINE = 160
"""Characters of an offending line that are kept."""


def cut_start(column: int) -> int:
    """How many characters of a line its snippet leaves out at the front, when *column* (1-based) is to blame.

    It depends on the column alone, so that whoever draws the snippet can place the caret.
    """
    return 0 if column <= MAX_LINE - 40 else column - 1 - MAX_LINE // 2


def cut_line(line: str, column: int) -> str:
    """The part of *line* around *column* that a snippet shows, at most `MAX_LINE` characters."""
    start = cut_start(column)
    return line[start : start + MAX_LINE]
