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
    while sum(found := [max(floor, min(wish, cap)) for wish, floor in zip(wishes, floors, strict=True)]) > room:
        cap -= 1
    for at, wish in enumerate(wishes):
        found[at] = min(wish, found[at] + room - sum(found)) if found[at] == cap else found[at]
    return found
