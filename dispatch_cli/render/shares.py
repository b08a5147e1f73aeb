"""Division of the available room among columns."""

from __future__ import annotations

from collections.abc import Sequence

LEAST = 8
"""Columns that a cell that wraps has at least; with less a row is no row."""


def shared(wishes: Sequence[int], floors: Sequence[int], room: int) -> list[int] | None:
    """Room for columns that would take *wishes* and need *floors*; None where there is none for these.

    The widest columns give way first, down to what each needs.
    """
    if sum(floors) > room:
        return None
    cap = max(wishes)
    while sum(widths := [max(floor, min(wish, cap)) for wish, floor in zip(wishes, floors, strict=True)]) > room:
        cap -= 1
    for at, wish in enumerate(wishes):
        widths[at] = min(wish, widths[at] + room - sum(widths)) if widths[at] == cap else widths[at]
    return widths
