"""The slots of operators held against guards."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.checks.cells import Cell, Cells
from dispatch_cli.checks.expectations import OF_SLOTS, Held, holds
from dispatch_cli.checks.text import wanted_words
from dispatch_cli.checks.violation import Violation
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.guard import Guard, GuardField
from dispatch_cli.model.names import OperatorName


class GuardedSlots:
    """The slots of operators, held against one guard. slots: those that it is about, as bits."""

    def __init__(self, guard: Guard, cells: Cells, slots: int) -> None:
        self._wants = guard.wants
        self._cells = cells
        self._slots = slots
        self._compares = any(want.field is GuardField.SAME_AS for want in guard.wants)
        self._verdicts: dict[int, str] = {}
        self._shared: dict[Plan, tuple[Violation, ...]] = {}

    def broken(self, name: OperatorName) -> tuple[Violation, ...]:
        """Violations of the guard by an operator: slots with its own kernels, then the others."""
        table, own = self._cells.own(name)
        if self._compares:
            self._verdicts.clear()
            return self._violations((*own, *self._cells.shared(table)), table)
        shared = self._shared.get(table.plan)
        if shared is None:
            shared = self._shared[table.plan] = self._violations(self._cells.shared(table), table)
        return (*self._violations(own, table), *shared)

    def _violations(self, cells: Iterable[Cell], table: Table) -> tuple[Violation, ...]:
        by_reason: dict[tuple[str, str], tuple[int, TableEntry | None]] = {}
        for cell in cells:
            slots = cell.slots & self._slots
            if slots and (wanted := self._wanted(cell, table)):
                reason = wanted, cell.held.words
                others, entry = by_reason.get(reason, (0, cell.held.entry))
                by_reason[reason] = others | slots, entry
        keys = self._cells.keys
        return tuple(Violation(keys(slots), *reason, entry) for reason, (slots, entry) in by_reason.items())

    def _wanted(self, cell: Cell, table: Table) -> str:
        """Expectations of the guard that a cell does not meet, in words; empty where it meets all."""

        def at(key: str) -> Held:
            return self._cells.held(table[key])

        wanted = self._verdicts.get(cell.content)
        if wanted is None:
            wants = (want for want in self._wants if want.field in OF_SLOTS)
            missed = (wanted_words(want) for want in wants if not holds(want, cell.held, at))
            wanted = self._verdicts[cell.content] = " and ".join(missed)
        return wanted
