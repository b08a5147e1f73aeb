"""The slots of operators held against guards: one operator at a time, or counted for all of them at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from itertools import chain, repeat
from operator import itemgetter

from dispatch_cli.checks.cells import Cell, Cells
from dispatch_cli.checks.expectations import accepts_unknown, holds
from dispatch_cli.checks.text import wanted_words
from dispatch_cli.checks.violation import Tally, Violation
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import Plan, Table, TableEntry
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.guard import Expectation, Guard, GuardField
from dispatch_cli.model.names import OperatorName

COUNTED = (
    GuardField.RULE,
    GuardField.NOT,
    GuardField.KERNEL,
    GuardField.NOT_KERNEL,
    GuardField.FALLTHROUGH,
)
"""What a guard can ask of slots that depends on the content of each alone."""


class GuardedSlots:
    """The slots of operators, held against one guard. slots: those that it speaks of, as bits."""

    def __init__(self, guard: Guard, cells: Cells, slots: int) -> None:
        self._wants = guard.wants
        self._cells = cells
        self._slots = slots
        self._compares = any(want.field is GuardField.SAME_AS for want in guard.wants)
        self._verdicts: dict[int, str] = {}
        self._shared: dict[Plan, tuple[Violation, ...]] = {}

    def broken(self, name: OperatorName) -> tuple[Violation, ...]:
        """Where an operator is not as the guard wants it: slots with its own kernels, then the others."""
        table, own = self._cells.own(name)
        if self._compares:
            self._verdicts.clear()
            return self._violations((*own, *self._cells.shared(table)), table)
        shared = self._shared.get(table.plan)
        if shared is None:
            shared = self._shared[table.plan] = self._violations(self._cells.shared(table), table)
        return (*self._violations(own, table), *shared)

    def _violations(self, cells: Iterable[Cell], table: Table) -> tuple[Violation, ...]:
        found: dict[tuple[str, str], tuple[int, TableEntry]] = {}
        for cell in cells:
            slots = cell.slots & self._slots
            if slots and (wanted := self._wanted(cell, table)):
                reason = wanted, cell.found
                others, entry = found.get(reason, (0, cell.entry))
                found[reason] = others | slots, entry
        keys = self._cells.keys
        return tuple(Violation(keys(slots), *reason, entry) for reason, (slots, entry) in found.items())

    def _wanted(self, cell: Cell, table: Table) -> str:
        """What a cell misses of what the guard wants, in words; nothing where it holds."""
        wanted = self._verdicts.get(cell.content)
        if wanted is None:
            missed = (wanted_words(want) for want in self._wants if not holds(want, cell.entry, table))
            wanted = self._verdicts[cell.content] = " and ".join(missed)
        return wanted


class GuardedSelection:
    """The slots of several operators as guards see them that speak of the same operators and keys.

    Such guards ask each content once, and not each operator. texts: how many texts there are to compare with a glob.
    """

    def __init__(self, names: Sequence[OperatorName], cells: Cells, slots: int) -> None:
        self._users: dict[int, list[str]] = {}
        """The operators that have a content of their own, each as often as it would be a violation."""
        self._sharing: dict[Plan, list[str]] = {}
        self._count = Counter[int]()
        self._odd: list[OperatorName] = []
        self._entries: dict[int, TableEntry] = {}
        plans: dict[Plan, list[int] | None] = {}
        times = Counter[Plan]()
        for name in names:
            table, own = cells.own(name)
            if table.plan not in plans:
                plans[table.plan] = self._part(cells.shared(table), slots)
            mine, shared = self._part(own, slots), plans[table.plan]
            if mine is None or shared is None:
                self._odd.append(name)
                continue
            full = str(name)
            for content in mine:
                self._users.setdefault(content, []).append(full)
            self._sharing.setdefault(table.plan, []).append(full)
            self._count.update(mine)
            times[table.plan] += 1
        for plan, number in times.items():
            for content in plans[plan] or ():
                self._count[content] += number
        self._plans = plans
        self._total = sum(self._count.values())
        self._by_text: dict[str, set[int]] = {}
        for content, entry in self._entries.items():
            if entry.kernel is not None:
                for text in (entry.kernel.debug, entry.kernel.function_name):
                    if text is not None:
                        self._by_text.setdefault(text, set()).add(content)
        self.texts = len(self._by_text)

    def _part(self, cells: Iterable[Cell], slots: int) -> list[int] | None:
        """The contents of cells, each as often as it would be a violation; None where that depends on the guard."""
        reasons: dict[tuple[int, str], None] = {}
        for cell in cells:
            if cell.slots & slots:
                reasons[cell.content, cell.found] = None
                self._entries.setdefault(cell.content, cell.entry)
        depends = len({found for _, found in reasons}) < len(reasons)
        return None if depends else [content for content, _ in reasons]

    def tally(self, want: Expectation, walk: GuardedSlots) -> Tally:
        """How often a guard with that expectation alone does not hold.

        walk: the same guard, for the operators that are not counted.
        """
        holding = self._holding(want)
        if len(holding) * 2 < len(self._entries):
            count = self._total - sum(map(self._count.__getitem__, holding))
        else:
            count = sum(self._count[content] for content in self._entries if content not in holding)
        count += sum(len(walk.broken(name)) for name in self._odd)
        return Tally(
            {f"the guard requires {wanted_words(want)}": count} if count else {},
            partial(self._missing, holding, walk),
        )

    @property
    def uncounted(self) -> int:
        """The operators in which contents of two kinds look the same."""
        return len(self._odd)

    def _missing(self, holding: set[int], walk: GuardedSlots) -> Mapping[str, int]:
        """The operators with violations, and how many. holding: the contents that are none."""
        broken = Counter(chain.from_iterable(map(self._users.__getitem__, self._users.keys() - holding)))
        found: dict[str, int] = {}
        for plan, names in self._sharing.items():
            shared = sum(content not in holding for content in self._plans[plan] or ())
            found.update(zip(names, map(shared.__add__, map(broken.get, names, repeat(0))), strict=True))
        for name in self._odd:
            found[str(name)] = len(walk.broken(name))
        return dict(filter(itemgetter(1), found.items()))

    def _holding(self, want: Expectation) -> set[int]:
        """The contents that are as a guard wants them."""
        if want.field in (GuardField.KERNEL, GuardField.NOT_KERNEL):
            named = {content for content, entry in self._entries.items() if entry.rule is Rule.NOT_KNOWN}
            for glob in want.texts:
                named |= self._by_text.get(glob, set())
                if is_glob(glob):
                    match = glob_pattern(glob).match
                    named.update(*(contents for text, contents in self._by_text.items() if match(text)))
            return named if want.field is GuardField.KERNEL else self._entries.keys() - named
        kinds = self._by_kind.items()
        found = (contents for (rule, falls), contents in kinds if _holds(want, rule, falls))
        return set[int]().union(*found)

    @cached_property
    def _by_kind(self) -> Mapping[tuple[Rule, bool], set[int]]:
        found: dict[tuple[Rule, bool], set[int]] = {}
        for content, entry in self._entries.items():
            found.setdefault((entry.rule, entry.is_fallthrough), set()).add(content)
        return found


def _holds(want: Expectation, rule: Rule, falls: bool) -> bool:
    if rule is Rule.NOT_KNOWN:
        return accepts_unknown(want)
    match want.field:
        case GuardField.RULE:
            return rule.value in want.texts
        case GuardField.NOT:
            return rule.value not in want.texts
        case _:
            return falls is (want.texts[0] == "true")
