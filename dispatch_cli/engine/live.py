"""The live table: what PyTorch's dispatcher really holds, kept up step by step, and so possibly stale.

PyTorch recomputes, at each registration, only the slots that it believes the registration can change
(``OperatorEntry::updateDispatchTable_``). Here every change is noted, and the table is brought up to date by replaying
the notes in order when somebody asks; most operators are never asked about.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.engine.layout import Layout
from dispatch_cli.engine.registration import Registration
from dispatch_cli.engine.rules import decide
from dispatch_cli.engine.table import TableEntry, entry_for
from dispatch_cli.model.universe import UNDEFINED

MAX_PENDING = 256
"""Notes kept before they are replayed in any case, so that a long-lived dispatcher does not hoard them."""


class Change(NamedTuple):
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
    cause: Change


class LiveTable:
    """One operator's live table.

    fallback_changes: the dispatcher's own list of fallback changes. seen: how many of them had happened when the
    operator came to be.
    """

    __slots__ = (
        "_active",
        "_causes",
        "_entries",
        "_fallback_changes",
        "_fallbacks",
        "_layout",
        "_pending",
        "_registered",
        "_seen",
    )

    def __init__(self, layout: Layout, fallback_changes: Sequence[Change], seen: int) -> None:
        self._layout = layout
        self._fallback_changes = fallback_changes
        self._registered = 0
        self._pending: list[Change] = []
        self._active: dict[str, Registration] = {}
        self._fallbacks: dict[str, Registration] = {}
        self._causes: dict[str, Change] = {}
        for change in fallback_changes[:seen]:
            self._apply_to_state(change)
        self._seen = seen
        self._entries: dict[str, TableEntry] | None = None

    def note(self, change: Change) -> None:
        """Remember a change of the operator's own kernels."""
        self._pending.append(change)
        if len(self._pending) > MAX_PENDING:
            self._catch_up()

    def settle(self, active: Mapping[str, Registration]) -> None:
        """Take *active* as the registrations of a captured state, whose live table is in order.

        Fallbacks that came after the operator are seen in their turn.
        """
        self._pending.clear()
        self._entries = None
        self._causes.clear()
        self._registered = 0
        self._active = dict(active)
        for key in active:
            self._registered |= self._layout.registered_bit[key]

    def __getitem__(self, key: str) -> TableEntry:
        return self._catch_up()[key]

    def entries(self) -> Mapping[str, TableEntry]:
        """The whole table, Undefined first."""
        return self._catch_up()

    def stale(self) -> list[StaleEntry]:
        """The slots that differ in function from the canonical table, in runtime order.

        Undefined is left out, as PyTorch's own check leaves it out.
        """
        if self._entries is None and not self._pending and self._seen == len(self._fallback_changes):
            return []
        entries = self._catch_up()
        found = []
        for key in self._layout.universe.runtime:
            canonical = self._canonical(key)
            if canonical.function != entries[key].function:
                found.append(StaleEntry(entries[key], canonical, self._causes[key]))
        return found

    def _catch_up(self) -> dict[str, TableEntry]:
        if self._entries is None:
            self._entries = {key: self._canonical(key) for key in self._layout.universe.slots}
        if not self._pending and self._seen == len(self._fallback_changes):
            return self._entries
        new = sorted([*self._pending, *self._fallback_changes[self._seen :]], key=lambda change: change.time)
        self._pending.clear()
        self._seen = len(self._fallback_changes)
        for change in new:
            self._apply(change, self._entries)
        return self._entries

    def _apply(self, change: Change, entries: dict[str, TableEntry]) -> None:
        universe = self._layout.universe
        self._apply_to_state(change)
        refreshed = universe.slots if change.full else universe.refreshed_by(change.key)
        for key in refreshed:
            entries[key] = self._canonical(key)
            self._causes.pop(key, None)
        self._blame(change, entries, frozenset(refreshed))

    def _blame(self, change: Change, entries: dict[str, TableEntry], refreshed: frozenset[str]) -> None:
        """Note *change* as the cause at every slot that it leaves behind, and forget causes that no longer hold."""
        for key in self._affected(change):
            if key in refreshed or key == UNDEFINED:
                continue
            if self._canonical(key).function == entries[key].function:
                self._causes.pop(key, None)
            else:
                self._causes.setdefault(key, change)

    def _affected(self, change: Change) -> tuple[str, ...]:
        """The slots whose canonical entry a change can touch; see `Layout.affected`."""
        return (change.key,) if change.fallback else self._layout.affected[change.key]

    def _apply_to_state(self, change: Change) -> None:
        state = self._fallbacks if change.fallback else self._active
        if change.active is None:
            state.pop(change.key, None)
        else:
            state[change.key] = change.active
        if not change.fallback:
            bit = self._layout.registered_bit[change.key]
            self._registered = self._registered | bit if change.active else self._registered & ~bit

    def _canonical(self, key: str) -> TableEntry:
        layout = self._layout
        decision = decide(layout.candidates[layout.universe.slot[key]], self._registered, key in self._fallbacks)
        return entry_for(key, decision, self._active, self._fallbacks)
