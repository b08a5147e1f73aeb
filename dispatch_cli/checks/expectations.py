"""Expectations of guards, the one test if they hold, what breaks them, and the work that they may take.

An operator's table is asked in as few pieces as guards can tell apart: one of PyTorch has 137 slots and some eight
different answers in them. A file of a few kilobytes can ask for hours of work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from dispatch_cli.checks.text import kernel_words
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.calls.guard import Expectation, Guard, GuardField
from dispatch_cli.model.calls.support import Promise
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.reading.problem import InputError, Problem
from dispatch_cli.model.text.glob import glob_pattern

MAX_WORK = 3_000_000
"""Units of work of one run, of about a microsecond each."""
OF_OPERATOR = 10
"""Cost of an operator that is compared with a guard, slot by slot."""
OF_CELL = 50
"""Cost of a cell that is promised; it takes some calls."""
OF_TEXT = 1
"""Cost of a text that is compared with a glob."""


def matches(text: str, globs: tuple[str, ...]) -> bool:
    return any(text == glob or glob_pattern(glob).match(text) is not None for glob in globs)


class Held(NamedTuple):
    """Content of a slot, as guards see it.

    names: of its kernel; those of the Python function that it was made of, too. function: its identity, as PyTorch
    compares kernels. words: all of this in a sentence.
    """

    rule: Rule
    names: tuple[str, ...]
    falls_through: bool
    function: Hashable
    words: str
    entry: TableEntry


def holds(want: Expectation, held: Held, at: Callable[[str], Held]) -> bool:
    """True if a place is as a guard wants it, or is not known and the guard accepts that. at: content of a slot."""
    texts = want.texts
    if held.rule is Rule.NOT_KNOWN:
        return accepts_unknown(want)
    match want.field:
        case GuardField.RULE:
            return held.rule.value in texts
        case GuardField.NOT:
            return held.rule.value not in texts
        case GuardField.KERNEL:
            return any(matches(name, texts) for name in held.names)
        case GuardField.NOT_KERNEL:
            return not any(matches(name, texts) for name in held.names)
        case GuardField.FALLTHROUGH:
            return held.falls_through is (texts[0] == "true")
        case _:
            other = at(texts[0])
            return other.rule is Rule.NOT_KNOWN or bool(held.function == other.function)


def accepts_unknown(want: Expectation) -> bool:
    """True if a guard holds at a slot that is not known: it does not require that the slot is known."""
    return want.field is not GuardField.NOT or Rule.NOT_KNOWN.value not in want.texts


class Violation(NamedTuple):
    """Violation of a guard by one operator.

    keys: the slots that hold the same. wanted: the expectations that do not hold, in words. found: what is there, in
    words. entry: what fills the first slot.
    """

    keys: tuple[str, ...]
    wanted: str
    found: str
    entry: TableEntry

    @property
    def key(self) -> str:
        """The first of its keys."""
        return self.keys[0]

    @property
    def reason(self) -> str:
        """Reason that it shares with other violations of the guard."""
        return f"the guard requires {self.wanted}"


class GuardBudget:
    """The work that is left."""

    def __init__(self) -> None:
        self._left = MAX_WORK

    def spend(self, work: int, guard: Guard | Promise) -> None:
        """Take *work* for a guard or promise. Errors: InputError when there is not so much left."""
        self._left -= work
        if self._left < 0:
            what = "guards" if isinstance(guard, Guard) else "promises"
            message = f"the {what} up to here need more comparisons and simulated calls than one run makes"
            hint = f"let {what} name fewer operators and keys, or check them in several runs with --guards FILE"
            raise InputError((Problem("too-many-comparisons", message, guard.span, hint=hint),))


class Cells:
    """The slots of operators in pieces that hold the same, found when they are first asked for."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[OperatorName, tuple[Table, tuple[tuple[int, Held], ...]]] = {}
        self._parts = cache(self._parts_of)
        self.keys = cache(self._keys)

    def of(self, name: OperatorName) -> tuple[Table, tuple[tuple[int, Held], ...]]:
        """The live table of an operator, and slots as bits with what they hold, in the order of their first slots."""
        known = self._known.get(name)
        if known is None:
            table, slots = self._view.live_table(name), self._view.universe.slots
            cells = ((bits, self.held(table[slots[first]])) for first, bits in self._parts(table.plan))
            known = self._known[name] = table, tuple(cells)
        return known

    def _keys(self, slots: int) -> tuple[str, ...]:
        """The keys of slots given as bits, in table order."""
        return tuple([key for slot, key in enumerate(self._view.universe.slots) if slots >> slot & 1])

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
        keys = self._view.dispatcher.keys_in(entry.decision.blockers)
        noun = "kernel" if len(keys) == 1 else "kernels"
        return f"{content}, because of the {noun} at {', '.join(keys)}" if keys else content

    @staticmethod
    def _parts_of(plan: Plan) -> tuple[tuple[int, int], ...]:
        """First slot and slots of each part with one decision; a fallback is one of its key."""
        parts: dict[tuple[Decision, int | None], list[int]] = {}
        for slot, decision in enumerate(plan.decisions):
            key = decision, slot if decision.rule is Rule.FALLBACK else None
            parts.setdefault(key, []).append(slot)
        return tuple((slots[0], sum(1 << slot for slot in slots)) for slots in parts.values())
