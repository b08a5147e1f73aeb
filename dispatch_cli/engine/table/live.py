"""The live table: what PyTorch's dispatcher really holds, kept up step by step, and so possibly stale.

PyTorch recomputes, at each registration, only the slots that it believes the registration can change
(``OperatorEntry::updateDispatchTable_``). Here every change is noted, and the table is brought up to date by replaying
the notes in order when it is read; the tables of most operators are never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule, decide
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.engine.table.table import Plan, TableEntry, entry_for, plan
from dispatch_cli.model.universe import UNDEFINED

MAX_PENDING = 256
"""Notes kept before they are replayed in any case, so that a long-lived dispatcher does not hoard them."""


class KernelChange(NamedTuple):
    """A kernel came to, or went from, *key*.

    active: the key's active registration after the change, or None. cause: the registration that came or went.
    came: whether it came. full: every slot is recomputed, as PyTorch does for a catch-all registration.
    fallback: it is a backend fallback. time: the dispatcher's count of changes.
    """

    key: str
    active: Registration | None
    cause: Registration
    came: bool
    full: bool
    fallback: bool
    time: int


class StaleEntry(NamedTuple):
    """A slot where the live table is behind the canonical one.

    cause: the change after which they differed, and differ since.
    """

    live: TableEntry
    canonical: TableEntry
    cause: KernelChange


class _Behind(NamedTuple):
    """A slot whose live entry is not the canonical one. cause: None while both are one function, or if not known."""

    live: TableEntry
    cause: KernelChange | None


class LiveTable:
    """One operator's live table, as what sets it apart from the canonical one.

    fallback_changes: the dispatcher's, in order, which the table follows. seen: how many of them had happened when the
    operator came to be.
    closed: `KeyLayout.closed` for an operator of which no kernel is unknown.
    """

    __slots__ = (
        "_active",
        "_behind",
        "_closed",
        "_fallback_slots",
        "_fallbacks",
        "_layout",
        "_pending",
        "_registered",
        "_seen",
        "fallback_changes",
    )

    def __init__(self, layout: KeyLayout, fallback_changes: tuple[KernelChange, ...], seen: int, closed: int) -> None:
        self.fallback_changes = fallback_changes
        self._layout = layout
        self._seen = seen
        self._pending: list[KernelChange] = []
        self._registered = self._closed = closed
        self._active: dict[str, Registration] | None = None
        self._fallbacks: dict[str, Registration] = {}
        self._fallback_slots = 0
        self._behind: dict[str, _Behind] = {}

    def copy(self) -> LiveTable:
        """An independent copy."""
        copy = LiveTable(self._layout, self.fallback_changes, self._seen, self._closed)
        copy._pending = self._pending.copy()
        copy._registered = self._registered
        copy._active = None if self._active is None else self._active.copy()
        copy._fallbacks = self._fallbacks.copy()
        copy._fallback_slots = self._fallback_slots
        copy._behind = self._behind.copy()
        return copy

    def note(self, change: KernelChange) -> None:
        """Remember a change of the operator's own kernels."""
        self._pending.append(change)
        if len(self._pending) > MAX_PENDING:
            self._catch_up()

    def settle(self, active: Mapping[str, Registration]) -> None:
        """Take *active* as the registrations of a captured state, whose live table is in order.

        Fallbacks that came after the operator are seen in their turn.
        """
        self._pending.clear()
        self._behind.clear()
        if self._active is None:
            self._begin()
        self._active = dict(active)
        self._registered = self._closed
        for key in active:
            self._registered |= self._layout.registered_bit[key]

    def observe(self, entries: Mapping[str, tuple[TableEntry, KernelChange | None]]) -> None:
        """Take *entries* for what slots were seen to hold, each with the change that it had missed, if that is known.

        Others are in order: `settle` comes before it.
        """
        self._catch_up()
        self._behind = {key: _Behind(live, cause) for key, (live, cause) in entries.items()}

    def __getitem__(self, key: str) -> TableEntry:
        self._catch_up()
        behind = self._behind.get(key)
        if behind is not None:
            return behind.live
        decision = self._plan().decisions[self._layout.universe.slot[key]]
        return entry_for(key, decision, self._active or {}, self._fallbacks)

    def filled(self) -> frozenset[str]:
        """The slots that a kernel fills, by key; operators with equal registrations share the answer."""
        keys = self._plan().filled
        for key, behind in self._behind.items():
            keys = keys - {key} if behind.live.kernel is None else keys | {key}
        return keys

    def fallthroughs(self) -> int:
        """The slots that dispatch skips, as bits; operators with equal registrations share the answer."""
        decided, slot = self._plan(), self._layout.universe.slot
        slots = _fallthroughs(decided, _falling(self._active or {}), _falling(self._fallbacks), self._layout)
        for key, behind in self._behind.items():
            bit = 1 << slot[key]
            slots = slots | bit if behind.live.is_fallthrough else slots & ~bit
        return slots

    def stale(self) -> list[StaleEntry]:
        """The slots that differ in function from the canonical table, in runtime order.

        Undefined is skipped, as in PyTorch's own check.
        """
        self._catch_up()
        slot = self._layout.universe.slot
        return [
            StaleEntry(self._behind[key].live, self._canonical(key), cause)
            for key in sorted(self._behind, key=slot.__getitem__)
            if (cause := self._behind[key].cause) is not None and key != UNDEFINED and self._is_known(key)
        ]

    def _plan(self) -> Plan:
        """The decisions of the canonical table."""
        self._catch_up()
        return plan(self._layout, self._registered, self._fallback_slots)

    def _is_known(self, key: str) -> bool:
        """True if it is known what is in a slot that is behind, and what should be."""
        return Rule.NOT_KNOWN not in (self._behind[key].live.rule, self._canonical(key).rule)

    def _begin(self) -> None:
        """The state that the operator came into: no kernels, and the fallbacks of that time."""
        self._active = {}
        for change in self.fallback_changes[: self._seen]:
            self._apply_to_state(change)

    def _catch_up(self) -> None:
        if not self._pending and self._seen == len(self.fallback_changes) and self._active is not None:
            return
        if self._active is None:
            self._begin()
        new = sorted([*self._pending, *self.fallback_changes[self._seen :]], key=lambda change: change.time)
        self._pending.clear()
        self._seen = len(self.fallback_changes)
        for change in new:
            self._apply(change)

    def _apply(self, change: KernelChange) -> None:
        """Let the slots that PyTorch recomputes follow a change; those that it should have recomputed stay behind."""
        layout, behind = self._layout, self._behind
        left = () if change.full else layout.left_behind(change.key, change.fallback)
        lives = [behind[key].live if key in behind else self._canonical(key) for key in left]
        self._apply_to_state(change)
        if behind:
            for key in layout.universe.slots if change.full else layout.universe.refreshed_by(change.key):
                behind.pop(key, None)
        for key, live in zip(left, lives, strict=True):
            canonical = self._canonical(key)
            if live.registration is canonical.registration and live.rule is canonical.rule:
                behind.pop(key, None)
            elif live.function == canonical.function:
                behind[key] = _Behind(live, None)
            elif key not in behind or behind[key].cause is None:
                behind[key] = _Behind(live, change)

    def _apply_to_state(self, change: KernelChange) -> None:
        state = self._fallbacks if change.fallback else self._active
        assert state is not None, "there is a state once the table has begun"
        if change.active is None:
            state.pop(change.key, None)
        else:
            state[change.key] = change.active
        if change.fallback:
            bit = 1 << self._layout.universe.slot[change.key]
            self._fallback_slots = self._fallback_slots | bit if change.active else self._fallback_slots & ~bit
        else:
            bit = self._layout.registered_bit[change.key]
            self._registered = self._registered | bit if change.active else self._registered & ~bit

    def _canonical(self, key: str) -> TableEntry:
        layout = self._layout
        decision = decide(layout.candidates[layout.universe.slot[key]], self._registered, key in self._fallbacks)
        return entry_for(key, decision, self._active or {}, self._fallbacks)


def _falling(registrations: Mapping[str, Registration]) -> frozenset[str]:
    """The keys whose kernel falls through."""
    return frozenset([key for key, registration in registrations.items() if registration.kernel.fallthrough])


@lru_cache(maxsize=8192)
def _fallthroughs(decided: Plan, own: frozenset[str], fallbacks: frozenset[str], layout: KeyLayout) -> int:
    """The slots of a canonical table that dispatch skips. own, fallbacks: keys whose kernels fall through."""
    slots = 0
    for slot, (key, decision) in enumerate(zip(layout.universe.slots, decided.decisions, strict=True)):
        falls = (
            decision.rule is Rule.FALLBACK and key in fallbacks if decision.source is None else decision.source in own
        )
        slots |= falls << slot
    return slots
