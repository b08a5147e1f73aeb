"""Calls of a recording in columns: a million of them take 50 MB."""

from __future__ import annotations

from array import array
from typing import NamedTuple

NONE = -1
"""Value of a column of numbers for none."""
RETURNED, RAISED, NOT_KNOWN = 0, 1, 2
"""End of a call as recorded; that of an open call is not known."""


class RecordedCalls:
    """Every call by its number, which is its position in the recording.

    signature, thread, place, forward_thread: numbers in the tables of the recording. parent: the call that made it.
    start, end: microseconds since the recording began. sequence: autograd's number.
    raised: RETURNED, RAISED or NOT_KNOWN. Where there is none of something, `NONE`.
    """

    def __init__(self) -> None:
        self.signature, self.thread, self.place, self.parent = (array("i") for _ in range(4))
        self.start, self.end, self.sequence = (array("q") for _ in range(3))
        self.forward_thread = array("i")
        self.raised = array("b")

    def __len__(self) -> int:
        return len(self.signature)

    def begin(
        self, signature: int, thread: int, place: int, start: int, sequence: int, forward: int, parent: int
    ) -> None:
        """Add a call."""
        self.signature.append(signature)
        self.thread.append(thread)
        self.place.append(place)
        self.start.append(start)
        self.sequence.append(sequence)
        self.forward_thread.append(forward)
        self.parent.append(parent)
        self.end.append(NONE)
        self.raised.append(NOT_KNOWN)

    def microseconds(self, call: int) -> int | None:
        """Time that a call took; None where its end is not recorded."""
        end = self.end[call]
        return None if end == NONE else max(0, end - self.start[call])


class OtherSlots(NamedTuple):
    """Slots of an operator that held something else, when it was called, than is determined at the program's end.

    at_end: they still do: they are stale.
    """

    at_end: bool
    keys: frozenset[str]
