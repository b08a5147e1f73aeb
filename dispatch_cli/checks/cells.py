"""An operator's table in as few pieces as guards can tell apart: a guard asks each, not each slot.

An operator of PyTorch has 137 slots and some eight different answers in them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from dispatch_cli.checks.expectations import Held
from dispatch_cli.checks.text import kernel_words
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.names import OperatorName


class Cell(NamedTuple):
    """Slots of one operator that hold the same.

    slots: as bits. held: what is in the first. content: equal numbers for what guards of rules, kernels and
    fallthroughs cannot tell apart, across operators.
    """

    slots: int
    held: Held
    content: int


class Cells:
    """The cells of each operator of a view, computed when they are first asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._own: dict[OperatorName, tuple[Table, tuple[Cell, ...]]] = {}
        self._shared: dict[Plan, tuple[Cell, ...]] = {}
        self._parts: dict[Plan, tuple[tuple[int, int], ...]] = {}
        self._contents: dict[object, int] = {}
        self._keys: dict[int, tuple[str, ...]] = {}
        self._blockers: dict[int, str] = {}

    def own(self, name: OperatorName) -> tuple[Table, tuple[Cell, ...]]:
        """The live table of an operator, and the cells with its own kernels, in the order of their first slots."""
        own_cells = self._own.get(name)
        if own_cells is None:
            table = self._view.live_table(name)
            own_cells = self._own[name] = table, tuple(self._cells(table, own=True))
        return own_cells

    def shared(self, table: Table) -> tuple[Cell, ...]:
        """The other cells of a table: fallbacks, and slots without a kernel. Operators with one plan share them."""
        cells = self._shared.get(table.plan)
        if cells is None:
            cells = self._shared[table.plan] = tuple(self._cells(table, own=False))
        return cells

    def _cells(self, table: Table, own: bool) -> Iterator[Cell]:
        slots = self._view.universe.slots
        for first, bits in self._parts_of(table.plan):
            if (table.plan.decisions[first].source is not None) is own:
                yield self._cell(table[slots[first]], bits)

    def keys(self, slots: int) -> tuple[str, ...]:
        """The keys of slots given as bits, in table order."""
        slot_keys = self._keys.get(slots)
        if slot_keys is None:
            all_slots = self._view.universe.slots
            slot_keys = self._keys[slots] = tuple(key for slot, key in enumerate(all_slots) if slots >> slot & 1)
        return slot_keys

    def bits(self, keys: Sequence[str]) -> int:
        """Slots as bits."""
        slot: Mapping[str, int] = self._view.universe.slot
        return sum(1 << slot[key] for key in keys)

    def held(self, entry: TableEntry) -> Held:
        """Content of a slot, as guards see it."""
        kernel = entry.kernel
        names = () if kernel is None else (kernel.debug, *filter(None, (kernel.function_name,)))
        return Held(entry.rule, names, entry.is_fallthrough, entry.function, self._words(entry), entry)

    def _words(self, entry: TableEntry) -> str:
        """Content of a slot, and the reason."""
        kernel = entry.kernel
        if entry.rule is Rule.NOT_KNOWN:
            return "what is not known, because the state is incomplete"
        content = "nothing (missing)"
        if kernel is not None:
            what = f"a fallthrough ({kernel.label})" if entry.is_fallthrough else kernel_words(kernel)
            content = f"{what} by rule {entry.rule.value}"
        return content + self._blockers_words(entry.decision.blockers)

    def _blockers_words(self, blockers: int) -> str:
        words = self._blockers.get(blockers)
        if words is None:
            keys = self._view.dispatcher.keys_in(blockers)
            noun = "kernel" if len(keys) == 1 else "kernels"
            words = f", because of the {noun} at {', '.join(keys)}" if keys else ""
            self._blockers[blockers] = words
        return words

    def _cell(self, entry: TableEntry, slots: int) -> Cell:
        held = self.held(entry)
        what = held.rule, held.names, held.falls_through
        return Cell(slots, held, self._contents.setdefault(what, len(self._contents)))

    def _parts_of(self, plan: Plan) -> tuple[tuple[int, int], ...]:
        """First slot and slots of each part with one decision; a fallback is one of its key."""
        groups = self._parts.get(plan)
        if groups is None:
            parts: dict[tuple[Decision, int | None], list[int]] = {}
            for slot, decision in enumerate(plan.decisions):
                key = decision, slot if decision.rule is Rule.FALLBACK else None
                parts.setdefault(key, []).append(slot)
            groups = tuple((slots[0], sum(1 << slot for slot in slots)) for slots in parts.values())
            self._parts[plan] = groups
        return groups
