"""The slots that changes on trial change: those to which the same happens are one row, as in tables."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from typing import Any, NamedTuple

from dispatch_cli.engine.call.kernels.entry import is_core_fallback
from dispatch_cli.engine.rules import Decision
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Inline, Narrow, Paragraph, Run, TableBlock, Tone
from dispatch_cli.render.words import keys_label, plural, rule_tone, short_kernel
from dispatch_cli.whatif.effect import PythonSlotEffect, SlotEffect, SlotPlace

MOST = 300
"""Rows that are listed; the command line has all."""


class SlotLine(NamedTuple):
    """A row: a slot, or slots to which the same happens. is_below: it is one of the row above, which is opened."""

    slots: tuple[Any, ...]
    is_below: bool = False

    @property
    def first(self) -> SlotEffect | PythonSlotEffect:
        """The slot that speaks for all."""
        slot: SlotEffect | PythonSlotEffect = self.slots[0]
        return slot

    @property
    def span(self) -> Span | None:
        """The place of the kernel that the slots hold, or held."""
        first = self.first
        kernel = (first.after.kernel or first.before.kernel) if isinstance(first, SlotEffect) else None
        return None if kernel is None else kernel.span


def blocks(
    universe: Universe,
    slots: Sequence[SlotEffect],
    python_slots: Sequence[PythonSlotEffect],
    opened: Container[SlotPlace],
) -> Iterator[Block]:
    """The slots. opened: the first ones of rows whose slots are listed below them, one by one."""
    words = _Words(universe)
    yield from _table(words.columns(), folded(slots, words.what), opened)
    changed = {slot.place for slot in slots}
    only_in_python = [slot for slot in python_slots if slot.place not in changed]
    if only_in_python:
        yield from _table(_PYTHON_SLOTS, folded(only_in_python, _python_what), opened)


def folded(slots: Sequence[Any], what: Callable[[Any], Hashable]) -> list[SlotLine]:
    """Slots as rows: slots of one operator to which the same happens are one, and so are operators with such slots.

    what: what happens to a slot; it must be equal for those of one row.
    """
    of_operator: dict[Hashable, list[Any]] = {}
    for slot in slots:
        of_operator.setdefault((slot.operator, what(slot)), []).append(slot)
    rows: dict[Hashable, list[Any]] = {}
    for group in of_operator.values():
        rows.setdefault((tuple(slot.key for slot in group), what(group[0])), []).extend(group)
    return [SlotLine(tuple(row)) for row in rows.values()]


def _table(
    columns: Sequence[Column[SlotLine]], lines: Sequence[SlotLine], opened: Container[SlotPlace]
) -> Iterator[Block]:
    shown: list[SlotLine] = []
    for line in lines:
        shown.append(line)
        if len(line.slots) > 1 and line.first.place in opened:
            shown += (SlotLine((slot,), True) for slot in line.slots)
    yield TableBlock(columns, shown[:MOST])
    if len(shown) > MOST:
        more = sum(len(line.slots) for line in shown[MOST:])
        yield Paragraph(Run(f"and {plural(more, 'more slot')}", Tone.DIM))


def entry_text(entry: TableEntry) -> str:
    """Content of a slot, in a few words."""
    kernel = entry.kernel
    if kernel is None:
        return str(entry.rule.value)
    return "fallthrough" if entry.is_fallthrough else short_kernel(kernel.label)


class _Words:
    """Words for the changes of slots of C++ tables."""

    def __init__(self, universe: Universe) -> None:
        self._universe = universe

    def what(self, slot: SlotEffect) -> Hashable:
        """Value that must be equal for slots of one row."""
        before, after = (self._held(slot, is_after, several=True) for is_after in (False, True))
        return before, after, _why(slot)

    def _held(self, slot: SlotEffect, is_after: bool, several: bool) -> Run:
        """Answer that calls find in a slot. several: it speaks for others; PyTorch's own fallbacks differ by line."""
        canonical, stale = (slot.after, slot.live_after) if is_after else (slot.before, slot.live_before)
        entry = canonical if stale is None else stale.live
        is_own = several and not entry.is_fallthrough and is_core_fallback(self._universe, entry)
        return Run("PyTorch's own fallback" if is_own else entry_text(entry), rule_tone(entry.rule))

    def columns(self) -> Sequence[Column[SlotLine]]:
        """The columns of the table."""

        def held(is_after: bool) -> Callable[[SlotLine, bool], Inline]:
            return lambda line, _: self._held(line.slots[0], is_after, len(line.slots) > 1)

        return (
            *_OF_ALL,
            Column("before", held(False)),
            Column("after", held(True)),
            Column("why", lambda line, _: _why(line.slots[0]), Narrow.BELOW),
        )


def _why(slot: SlotEffect) -> Inline:
    if slot.live_after is not None:
        return Run(f"stale: it should hold {entry_text(slot.after)}", Tone.WARN)
    source = slot.after.decision.source
    why = slot.after.rule.value if source is None or source == slot.key else f"{slot.after.rule.value}, from {source}"
    return why if slot.live_before is None else f"{why}; no longer stale"


def _operator(line: SlotLine, short: bool) -> Inline:  # noqa: ARG001
    operators = dict.fromkeys(slot.operator for slot in line.slots)
    first = f"{'  ' * line.is_below}{line.first.operator}"
    return first if len(operators) == 1 else f"{first} and {len(operators) - 1:,} more"


def _keys(line: SlotLine, short: bool) -> Inline:
    return keys_label(tuple(dict.fromkeys(slot.key for slot in line.slots)), short)


def _python_what(slot: PythonSlotEffect) -> Hashable:
    return _choice(slot.before), _choice(slot.after)


def _choice(decision: Decision) -> str:
    return decision.source or decision.rule.value


_OF_ALL: tuple[Column[SlotLine], ...] = (
    Column("operator", _operator),
    Column("slot", _keys),
)
_PYTHON_SLOTS: tuple[Column[SlotLine], ...] = (
    Column("operator", _operator),
    Column("Python's choice", _keys),
    Column("before", lambda line, _: _choice(line.slots[0].before)),
    Column("after", lambda line, _: _choice(line.slots[0].after)),
)
