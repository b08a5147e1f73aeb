"""A way from row to row: boxes from top to bottom, and arrows between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.render.document import Mark, Tone

ROW, LANE = 26, 14
"""The height of a row, and the width that an arrow takes."""


class DrawnRow(NamedTuple):
    """A box and what stands beside it. text: of the box; an empty one is a heading in the place of a box."""

    text: str
    beside: str
    tone: Tone = Tone.DIM


class DrawnArrow(NamedTuple):
    """An arrow between two rows, by their numbers. title: what it means."""

    start: int
    end: int
    title: str


class DrawnPath(NamedTuple):
    """A picture of a way. title: what goes there."""

    rows: Sequence[DrawnRow]
    arrows: Sequence[DrawnArrow]
    title: str

    @property
    def words(self) -> str:
        """Picture in a sentence: what goes there, and the boxes that count."""
        boxes = [row.text for row in self.rows if row.text and row.tone is not Tone.DIM]
        return f"The way of {self.title}: {', then '.join(boxes)}"

    def lane(self, number: int) -> int:
        """Distance of an arrow to the left: each goes down in a lane of its own, the first one nearest."""
        return len(self.arrows) - number


def marks_of(row: DrawnRow) -> tuple[Mark, ...]:
    """Content of a box."""
    return (Mark(row.text, row.tone),)
