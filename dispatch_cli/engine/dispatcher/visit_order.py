"""The order in which PyTorch visits the keys of an operator's kernels.

It matters in one place: when a schema is defined after kernels that contradict it, PyTorch reports the first one that
it visits. The kernels are in an open-addressing hash map with Robin Hood insertion and Fibonacci hashing
(``c10/util/flat_hash_map.h``), so the order follows from the keys' ids and from what came and went before.
"""

from __future__ import annotations

_MULTIPLIER = 11400714819323198485
_WORD = 1 << 64
_MIN_LOOKUPS = 4
_MIN_BUCKETS = 4
MAX_PENDING = 64
"""Changes noted before they are carried out in any case."""


class VisitOrder:
    """The keys of one operator, by id. Changes are noted, and carried out when somebody asks."""

    __slots__ = ("_buckets", "_count", "_pending", "_slots")

    def __init__(self) -> None:
        self._buckets = 0
        self._count = 0
        self._slots: list[tuple[int, int] | None] = []
        self._pending: list[int] = []

    def copy(self) -> VisitOrder:
        """The same order, which goes its own way from here on."""
        copy = VisitOrder()
        copy._buckets, copy._count = self._buckets, self._count
        copy._slots, copy._pending = self._slots.copy(), self._pending.copy()
        return copy

    def note(self, key_id: int, came: bool) -> None:
        """A key's first kernel came, or its last one went."""
        self._pending.append(key_id if came else -key_id)
        if len(self._pending) > MAX_PENDING:
            self._catch_up()

    def ids(self) -> list[int]:
        """The ids of the keys that are there, in order of visit."""
        self._catch_up()
        return [slot[0] for slot in self._slots if slot is not None]

    def _catch_up(self) -> None:
        for change in self._pending:
            if change > 0:
                self._insert(change)
            else:
                self._erase(-change)
        self._pending.clear()

    def _insert(self, key_id: int) -> None:
        """Put a key that is not there into its place; richer entries give way to poorer ones."""
        if not self._buckets:
            return self._grow_and_insert(key_id)
        index, distance = self._home(key_id), 0
        while (slot := self._slots[index]) is not None and slot[1] >= distance:
            index, distance = index + 1, distance + 1
        if distance == self._max_lookups() or 2 * (self._count + 1) > self._buckets:
            return self._grow_and_insert(key_id)
        first = index
        carried = key_id
        while (slot := self._slots[index]) is not None:
            poorer = slot[1] < distance
            if poorer:
                self._slots[index] = (carried, distance)
                carried, distance = slot
            index, distance = index + 1, distance + 1
            if not poorer and distance == self._max_lookups():
                # the one that was carried furthest is taken out, the new key with it, and both start over
                held = self._slots[first]
                assert held is not None, "the new key has taken this place"
                self._slots[first] = (carried, held[1])
                return self._grow_and_insert(key_id)
        self._slots[index] = (carried, distance)
        self._count += 1
        return None

    def _erase(self, key_id: int) -> None:
        """Take a key out and move those that follow closer to their places."""
        index = next(i for i, slot in enumerate(self._slots) if slot is not None and slot[0] == key_id)
        self._slots[index] = None
        self._count -= 1
        while (follower := self._slots[index + 1] if index + 1 < len(self._slots) else None) and follower[1] > 0:
            self._slots[index] = (follower[0], follower[1] - 1)
            self._slots[index + 1] = None
            index += 1

    def _grow_and_insert(self, key_id: int) -> None:
        kept = [slot[0] for slot in self._slots if slot is not None]
        self._buckets = max(_MIN_BUCKETS, 2 * self._buckets)
        self._slots = [None] * (self._buckets + self._max_lookups())
        self._count = 0
        for other in kept:
            self._insert(other)
        self._insert(key_id)

    def _home(self, key_id: int) -> int:
        shift = 64 - (self._buckets.bit_length() - 1)
        return (_MULTIPLIER * key_id % _WORD) >> shift

    def _max_lookups(self) -> int:
        return max(_MIN_LOOKUPS, self._buckets.bit_length() - 1)
