"""Dispatch tables: the entries, and the canonical table that the registrations alone determine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import cached_property, lru_cache
from operator import itemgetter
from typing import NamedTuple

from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.engine.rules import MISSING, Decision, Rule, choose, decide
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import Kernel

AMBIGUOUS_KERNEL = Kernel(debug="ambiguous_autogradother", function="ambiguous_autogradother")
"""What PyTorch puts at AutogradOther when it cannot choose; calling it is an error."""
NOT_KNOWN_TEXT = "?"
"""What our table dump has in the place of a kernel where it is not known; PyTorch's has no such line."""


class TableEntry(NamedTuple):
    """One slot's answer.

    key: the runtime key, or Undefined. decision: rule, number, and the key the kernel is registered at.
    registration: the registration behind it; None when the slot is missing, ambiguous or not known.
    otherwise: of a slot that is not known, the entry if there is no kernel but those that are known.
    """

    key: str
    decision: Decision
    registration: Registration | None
    otherwise: TableEntry | None = None

    @property
    def rule(self) -> Rule:
        """Why the slot holds what it holds."""
        return self.decision.rule

    @property
    def kernel(self) -> Kernel | None:
        """The kernel a call would run; None when the slot is missing, or not known."""
        if self.registration is not None:
            return self.registration.kernel
        return AMBIGUOUS_KERNEL if self.rule is Rule.AMBIGUOUS else None

    @property
    def is_fallthrough(self) -> bool:
        """Whether dispatch skips this key."""
        return self.registration is not None and self.registration.kernel.fallthrough

    @property
    def function(self) -> Hashable:
        """Identity of the function in the slot, as PyTorch compares kernels."""
        return self.rule if self.registration is None else self.registration.function


def _decisions(layout: KeyLayout, registered: int, fallbacks: int) -> tuple[Decision, ...]:
    """Decide every slot: once for each group of slots that only their own kernels and fallbacks tell apart."""
    decisions: list[Decision] = [MISSING] * len(layout.candidates)
    for candidates, slots in layout.alike:
        without, with_fallback = (choose(candidates, registered, has_fallback) for has_fallback in (False, True))
        for slot in slots:
            decisions[slot] = with_fallback if fallbacks >> slot & 1 else without
    for slot in layout.slots_of(registered):
        decisions[slot] = choose(layout.candidates[slot], registered, bool(fallbacks >> slot & 1))
    for slot in layout.open_slots:
        decisions[slot] = decide(layout.candidates[slot], registered, bool(fallbacks >> slot & 1))
    return tuple(decisions)


class Plan:
    """The decision for every slot, shared by all operators with kernels at the same keys.

    decisions: one per slot. counts: how many slots each rule fills.
    """

    def __init__(self, layout: KeyLayout, registered: int, fallbacks: int) -> None:
        self._slots = layout.universe.slots
        self.decisions = _decisions(layout, registered, fallbacks)

    @cached_property
    def counts(self) -> Mapping[Rule, int]:
        return Counter(decision.rule for decision in self.decisions)

    def dump(self, texts: Mapping[str, str]) -> str:
        """The text of a table dump.

        texts: what to print for the kernel at each key, and at `fallback_name` of each key that has a fallback.
        """
        parts, names = self._template
        filled = parts.copy()
        filled[1::2] = [texts[name] for name in names] if len(names) < 2 else self._pick(texts)
        return "".join(filled)

    @cached_property
    def _template(self) -> tuple[list[str], list[str]]:
        """The dump in parts, every second one a place for a kernel, and which kernel goes where.

        Putting a dump together is then three calls that run at the speed of C, whatever the number of slots.
        """
        parts: list[str] = []
        names: list[str] = []
        tail = ""
        for key, decision in zip(self._slots, self.decisions, strict=True):
            rule, source = decision.rule, decision.source
            if rule is Rule.MISSING:
                continue
            if rule is Rule.AMBIGUOUS:
                tail += f"{key}: {AMBIGUOUS_KERNEL.debug} [{rule.dump_text}]\n"
                continue
            if rule is Rule.NOT_KNOWN:
                tail += f"{key}: {NOT_KNOWN_TEXT} [{rule.dump_text}]\n"
                continue
            names.append(fallback_name(key) if source is None else source)
            parts += (f"{tail}{key}: ", "")
            tail = f" [{rule.dump_text}]\n"
        parts.append(tail)
        return parts, names

    @cached_property
    def _pick(self) -> Callable[[Mapping[str, str]], tuple[str, ...]]:
        return itemgetter(*self._template[1])


def fallback_name(key: str) -> str:
    """What a fallback's text is filed under; no key has such a name."""
    return f"{key} fallback"


@lru_cache(maxsize=8192)
def plan(layout: KeyLayout, registered: int, fallbacks: int) -> Plan:
    """The plan of a pattern.

    registered: bits of the keys with a kernel. fallbacks: bit *i* is set when slot *i* has a backend fallback.
    """
    return Plan(layout, registered, fallbacks)


class Table(Mapping[str, TableEntry]):
    """An operator's canonical table: runtime key (Undefined first) → entry.

    active: the active registration of every key that has one. plan: the decisions, shared with other operators.
    """

    __slots__ = ("_fallbacks", "_slot", "_slots", "active", "plan")

    def __init__(
        self, layout: KeyLayout, plan: Plan, active: Mapping[str, Registration], fallbacks: Mapping[str, Registration]
    ) -> None:
        self.plan = plan
        self._slots = layout.universe.slots
        self._slot = layout.universe.slot
        self.active = active
        self._fallbacks = fallbacks

    def __getitem__(self, key: str) -> TableEntry:
        return entry_for(key, self.plan.decisions[self._slot[key]], self.active, self._fallbacks)

    def __iter__(self) -> Iterator[str]:
        return iter(self._slots)

    def __len__(self) -> int:
        return len(self._slots)


def entry_for(
    key: str, decision: Decision, active: Mapping[str, Registration], fallbacks: Mapping[str, Registration]
) -> TableEntry:
    """Put the kernel to a decision. active: the active registration per key; fallbacks: per runtime key."""
    if decision.source is not None:
        return TableEntry(key, decision, active[decision.source])
    if decision.otherwise is not None:
        return TableEntry(key, decision, None, entry_for(key, decision.otherwise, active, fallbacks))
    return TableEntry(key, decision, fallbacks[key] if decision.rule is Rule.FALLBACK else None)


def answer(entry: TableEntry) -> tuple[object, ...]:
    """What must be equal for two entries to give the same answer: the rule, and what is seen of the kernel.

    The header of a captured operator has no signatures and flags, so they do not count.
    """
    kernel = entry.kernel
    otherwise = () if entry.otherwise is None else answer(entry.otherwise)
    return (entry.rule, *(() if kernel is None else (kernel.debug, kernel.fallthrough, kernel.span)), *otherwise)


def changed_slots(before: Table, after: Table) -> Iterator[tuple[TableEntry, TableEntry]]:
    """The slots of two tables of one universe that give different answers, before and after, in table order."""
    for was, became in zip(before.values(), after.values(), strict=True):
        if answer(was) != answer(became):
            yield was, became
