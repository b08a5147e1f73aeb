"""One operator's state: its schema, its kernels per key, and its live table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.live import KernelChange, LiveTable, StaleEntry
from dispatch_cli.engine.table.registration import Definition, OperatorHeader, Registration
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.model.schema.model import FunctionSchema

_MULTIPLIER = 11400714819323198485
_WORD = 1 << 64
_MIN_LOOKUPS = 4
_MIN_BUCKETS = 4
MAX_PENDING = 64
"""Changes noted before they are carried out in any case."""


class VisitOrder:
    """The keys of one operator, by id, in the order in which PyTorch visits their kernels.

    It matters in one place: when a schema is defined after kernels that contradict it, PyTorch reports the first one
    that it visits. The kernels are in an open-addressing hash map with Robin Hood insertion and Fibonacci hashing
    (``c10/util/flat_hash_map.h``), so the order follows from the keys' ids and from what came and went before. Changes
    are noted, and carried out when the order is asked for.
    """

    __slots__ = ("_buckets", "_count", "_pending", "_slots")

    def __init__(self) -> None:
        self._buckets = 0
        self._count = 0
        self._slots: list[tuple[int, int] | None] = []
        self._pending: list[int] = []

    def copy(self) -> VisitOrder:
        """An independent copy."""
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


NO_DEBUG_INFO = "no debug info"


class FirstKernels(NamedTuple):
    """The kernels of an operator that came first, of those that have a C++ signature or may have one.

    PyTorch's warning of an override names one of them as the previous kernel, often not the one that is replaced: the
    first that was registered for the operator, at whatever key, even when it was dropped since, and even the new one
    itself; one without SymInt comes first. Where there is none it says "no debug info".
    Source: ``cpp_signature_`` in ``OperatorEntry::registerKernel``; https://github.com/pytorch/pytorch/issues/65825.

    plain: without SymInt, symbolic: with it. Of a kernel that says neither that it has a signature nor that it is a
    Python kernel or a fallthrough it is not known; it counts as a plain one.
    """

    plain: Kernel | None = None
    symbolic: Kernel | None = None

    def and_then(self, kernel: Kernel) -> FirstKernels:
        """The first kernels after *kernel* was registered."""
        if kernel.signature is None:
            may_have = not (kernel.python or kernel.fallthrough)
            return self._replace(plain=kernel) if may_have and self.plain is None else self
        from dispatch_cli.model.schema.model import takes_symint

        if takes_symint(kernel.signature):
            return self._replace(symbolic=kernel) if self.symbolic is None else self
        return self._replace(plain=kernel) if self.plain is None else self

    def named(self, captured: Iterable[Kernel]) -> str | None:
        """The debug text that the warning prints; None where it is not known.

        captured: kernels that were there before these, in an order that is not known.
        """
        if any(kernel.signature is not None for kernel in captured):
            return None
        first = self.plain or self.symbolic
        if first is None:
            return NO_DEBUG_INFO
        return None if first.signature is None else first.debug


class Operator:
    """An operator in a dispatcher.

    definition: the schema in effect, or None. kernels: per key the registrations, newest first; the first is active.
    holds: how many things keep the operator in existence (definition and kernels).
    registered: one bit per key that has a kernel (`KeyLayout.registered_bit`), and `KeyLayout.closed` where no
        kernel is unknown. texts: what a table dump prints for the active kernel of each key.
    live: the live table. visits: the order in which PyTorch visits the keys.
    first: the kernels that PyTorch's warnings of overrides name; those of a captured state are not among them.
    seen: how many of the changes of fallbacks had happened when the operator came to be.
    """

    __slots__ = ("definition", "first", "holds", "kernels", "live", "name", "registered", "texts", "visits")

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
        self.first = FirstKernels()
        self.holds = 0
        self.registered = 0 if captured else layout.closed
        self.texts: dict[str, str] = {}
        self.visits = VisitOrder()
        self.live = LiveTable(layout, fallback_changes, seen, self.registered)

    def copy(self) -> Operator:
        """An independent copy."""
        copy = Operator.__new__(Operator)
        copy.name = self.name
        copy.definition = self.definition
        copy.kernels = {key: registrations.copy() for key, registrations in self.kernels.items()}
        copy.first = self.first
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

    def has_kernel(self, key: str) -> bool:
        """True if a kernel is registered at exactly *key*, an alias key included."""
        return key in self.kernels
