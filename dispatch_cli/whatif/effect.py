"""Effects of changes on slots: those that hold something else, and those for which Python chooses another key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python.table import decisions
from dispatch_cli.engine.rules import MISSING, Decision
from dispatch_cli.engine.table.live import StaleEntry
from dispatch_cli.engine.table.table import Table, TableEntry, answer
from dispatch_cli.model.names import OperatorName

SlotPlace = tuple[OperatorName, str]
"""An operator and the key of a slot."""


class SlotEffect(NamedTuple):
    """A slot that holds something else.

    before, after: of the canonical table. live_before, live_after: where the live table differs from that.
    """

    operator: OperatorName
    key: str
    before: TableEntry
    after: TableEntry
    live_before: StaleEntry | None = None
    live_after: StaleEntry | None = None

    @property
    def place(self) -> SlotPlace:
        """The slot."""
        return self.operator, self.key


class PythonSlotEffect(NamedTuple):
    """A slot for which Python's ``resolve_key`` chooses something else."""

    operator: OperatorName
    key: str
    before: Decision
    after: Decision

    @property
    def place(self) -> SlotPlace:
        """The slot."""
        return self.operator, self.key


class Touched(NamedTuple):
    """Extent of a change. operators: by name. keys: of backend fallbacks, which concern every operator."""

    operators: frozenset[OperatorName] = frozenset()
    keys: frozenset[str] = frozenset()

    def __or__(self, other: Touched) -> Touched:
        return Touched(self.operators | other.operators, self.keys | other.keys)


class SlotsFound(NamedTuple):
    """The slots that changes have changed."""

    slots: tuple[SlotEffect, ...]
    python_slots: tuple[PythonSlotEffect, ...]


def changed_slots(before: State, after: State, touched: Touched) -> SlotsFound:
    """The slots that changes have changed, for calls and for Python."""
    return SlotsFound(tuple(slot_changes(before, after, touched)), tuple(python_slot_changes(before, after, touched)))


def slot_changes(before: State, after: State, touched: Touched) -> list[SlotEffect]:
    """The slots in which calls find something else."""
    effects = [change for name in sorted(touched.operators, key=str) for change in _of_operator(before, after, name)]
    if touched.keys:
        effects += _of_fallbacks(before, after, touched)
        slot = before.dispatcher.universe.slot
        effects.sort(key=lambda effect: (str(effect.operator), slot[effect.key]))
    return effects


def _of_operator(before: State, after: State, name: OperatorName) -> Iterator[SlotEffect]:
    tables = [_table(state.dispatcher, name) for state in (before, after)]
    stale = [state.dispatcher.stale_slots(name) if name in state.dispatcher else {} for state in (before, after)]
    for key in before.dispatcher.universe.slots:
        old, new = (TableEntry(key, MISSING, None) if table is None else table[key] for table in tables)
        was, became = (slots.get(key) for slots in stale)
        if _answer(old, was) != _answer(new, became):
            yield SlotEffect(name, key, old, new, was, became)


def _table(dispatcher: Dispatcher, name: OperatorName) -> Table | None:
    return dispatcher.table(name) if name in dispatcher else None


def _answer(canonical: TableEntry, stale: StaleEntry | None) -> tuple[object, ...]:
    """Answer that calls find in a slot."""
    return answer(canonical if stale is None else stale.live)


def _of_fallbacks(before: State, after: State, touched: Touched) -> Iterator[SlotEffect]:
    """Changes of operators that only the fallbacks at some keys concern: a fallback fills no other slot."""
    keys = sorted(touched.keys, key=before.dispatcher.universe.slot.__getitem__)
    registered = before.dispatcher.present() | after.dispatcher.present()
    for name in before.dispatcher:
        if name in touched.operators or name not in after.dispatcher:
            continue
        old, new = before.dispatcher.table(name), after.dispatcher.table(name)
        stale = [state.dispatcher.stale_slots(name) if name in registered else {} for state in (before, after)]
        for key in keys:
            was, became = (slots.get(key) for slots in stale)
            if _answer(old[key], was) != _answer(new[key], became):
                yield SlotEffect(name, key, old[key], new[key], was, became)


def python_slot_changes(before: State, after: State, touched: Touched) -> list[PythonSlotEffect]:
    """The slots for which Python chooses something else, of the operators that have kernels in Python."""
    effects = []
    for name in sorted(touched.operators, key=str):
        keys = [[kernel.dispatch_key for kernel in state.python_kernels(name)] for state in (before, after)]
        if not any(keys) or not all(name in state.dispatcher for state in (before, after)):
            continue
        old, new = (decisions(state.dispatcher, name, some) for state, some in zip((before, after), keys, strict=True))
        for key, was, became in zip(before.dispatcher.universe.slots, old, new, strict=True):
            if was != became:
                effects.append(PythonSlotEffect(name, key, was, became))
    return effects
