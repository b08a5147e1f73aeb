"""Places in a file of torchgen, and what is wrong there."""

from __future__ import annotations

from typing import NamedTuple


class Point(NamedTuple):
    """A line and a column, both 1-based."""

    line: int
    column: int


class EntryProblem(NamedTuple):
    """An entry in a file of torchgen that is not understood. text: as the source has it. why: a sentence."""

    at: Point
    text: str
    why: str
