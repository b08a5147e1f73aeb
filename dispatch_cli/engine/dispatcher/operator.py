"""One operator's state: its schema, its kernels per key, and its live table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.live import KernelChange, LiveTable, StaleEntry
from dispatch_cli.engine.table.registration import Definition, OperatorHeader, Registration
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import FunctionSchema

_MULTIPLIER = 11400714819323198485
_WORD = 1 << 64
_MIN_LOOKUPS = 4
_MIN_BUCKETS = 4


class _KernelMap:
    """An open-addressing hash map with Robin Hood insertion and Fibonacci hashing (``c10/util/flat_hash_map.h``).

    The order of its keys follows from their ids, and from what came and went before.
    """

    def __init__(self) -> None:
        self._buckets = 0
        self._count = 0
        self._slots: list[tuple[int, int] | None] = []

    def ids(self) -> list[int]:
        """The keys, in order."""
        return [slot[0] for slot in self._slots if slot is not None]

    def insert(self, key_id: int) -> None:
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

    def erase(self, key_id: int) -> None:
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
            self.insert(other)
        self.insert(key_id)

    def _home(self, key_id: int) -> int:
        shift = 64 - (self._buckets.bit_length() - 1)
        return (_MULTIPLIER * key_id % _WORD) >> shift

    def _max_lookups(self) -> int:
        return max(_MIN_LOOKUPS, self._buckets.bit_length() - 1)


class Operator:
    """An operator in a dispatcher.

    definition: the schema in effect, or None. kernels: per key the registrations, newest first; the first is active.
    holds: how many things keep the operator in existence (definition and kernels).
    registered: one bit per key that has a kernel (`KeyLayout.registered_bit`), and `KeyLayout.closed` where no
        kernel is unknown. texts: what a table dump prints for the active kernel of each key.
    live: the live table. visits: the id of each key whose first kernel came, and with a minus of each whose last went.
    """

    __slots__ = ("definition", "holds", "kernels", "live", "name", "registered", "texts", "visits")

    def __init__(
        self,
        name: OperatorName,
        layout: KeyLayout,
        fallback_changes: tuple[KernelChange, ...],
        seen: int,
        captured: bool = False,
    ) -> None:
        self.name = name
        self.definition: Definition | None = None
        self.kernels: dict[str, list[Registration]] = {}
        self.holds = 0
        self.registered = 0 if captured else layout.closed
        self.texts: dict[str, str] = {}
        self.visits: list[int] = []
        self.live = LiveTable(layout, fallback_changes, seen, self.registered)

    def copy(self) -> Operator:
        """An independent copy."""
        copy = Operator.__new__(Operator)
        copy.name = self.name
        copy.definition = self.definition
        copy.kernels = {key: registrations.copy() for key, registrations in self.kernels.items()}
        copy.holds = self.holds
        copy.registered = self.registered
        copy.texts = self.texts.copy()
        copy.visits = self.visits.copy()
        copy.live = self.live.copy()
        return copy

    def active(self, key: str) -> Registration | None:
        """The active registration at *key*."""
        kernel = self.kernels.get(key)
        return kernel[0] if kernel else None

    def active_kernels(self) -> dict[str, Registration]:
        """The active registration of every key that has one."""
        return {key: registrations[0] for key, registrations in self.kernels.items()}

    @property
    def falling(self) -> frozenset[str]:
        """The keys whose active kernel falls through."""
        return frozenset([key for key, entries in self.kernels.items() if entries[0].kernel.fallthrough])

    @property
    def header(self) -> OperatorHeader:
        """The schema as text, and where it is declared."""
        overridden = tuple(key for key, entries in self.kernels.items() if len(entries) > 1)
        definition = self.definition
        if definition is None:
            return OperatorHeader(None, None, overridden)
        is_known = definition.known_schema is not None
        return OperatorHeader(str(definition.schema), definition.span, overridden, is_known, definition.captured)

    @property
    def schema(self) -> FunctionSchema | None:
        """The schema; None where there is none, or it is not known."""
        return None if self.definition is None else self.definition.known_schema

    @property
    def tags(self) -> tuple[str, ...]:
        """Its tags; none where it is not defined."""
        return () if self.definition is None else self.definition.tags

    def stale(self) -> list[StaleEntry]:
        """The slots in which the live table differs from the canonical one."""
        return self.live.stale()

    def visit_order(self) -> list[int]:
        """The keys with kernels, by id, in the order in which PyTorch visits them.

        It matters in one place: when a schema is defined after kernels that contradict it, PyTorch reports the first
        one that it visits.
        """
        kernels = _KernelMap()
        for change in self.visits:
            if change > 0:
                kernels.insert(change)
            else:
                kernels.erase(-change)
        return kernels.ids()

    def has_kernel(self, key: str) -> bool:
        """True if a kernel is registered at exactly *key*, an alias key included."""
        return key in self.kernels
