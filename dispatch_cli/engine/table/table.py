"""Dispatch tables: entries, the canonical table that registrations alone determine, and calls that go past a kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import copy
from functools import cached_property, lru_cache
from typing import NamedTuple

from dispatch_cli.engine.rules import MISSING, Decision, Rule, choose, decide
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.universe import AUTOGRAD, UNDEFINED, Universe, autograd_key_of, autograd_keys_of

AMBIGUOUS_KERNEL = Kernel(debug="ambiguous_autogradother", function="ambiguous_autogradother")
"""The kernel that PyTorch puts at AutogradOther when it cannot choose; calling it is an error."""
NOT_KNOWN_TEXT = "?"
"""Text of our table dump for a kernel that is not known; PyTorch's has no such line."""
_WITHOUT_KERNEL = {Rule.AMBIGUOUS: AMBIGUOUS_KERNEL.debug, Rule.NOT_KNOWN: NOT_KNOWN_TEXT}
"""Texts of a table dump for slots that are filled, and not by a registered kernel."""
Decide = Callable[[str], Decision]
"""Function from a runtime key or Undefined to the decision of its slot."""


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
        """The rule that fills the slot."""
        return self.decision.rule

    @property
    def kernel(self) -> Kernel | None:
        """The kernel a call would run; None when the slot is missing, or not known."""
        if self.registration is not None:
            return self.registration.kernel
        return AMBIGUOUS_KERNEL if self.rule is Rule.AMBIGUOUS else None

    @property
    def is_fallthrough(self) -> bool:
        """True if dispatch skips this key."""
        return self.registration is not None and self.registration.kernel.fallthrough

    @property
    def function(self) -> Hashable:
        """Identity of the function in the slot, as PyTorch compares kernels."""
        return self.rule if self.registration is None else self.registration.function


def _decisions(layout: KeyLayout, registered: int, fallbacks: int) -> tuple[Decision, ...]:
    """Decide every slot: once for each group of slots that only their own kernels and fallbacks tell apart."""
    decisions: list[Decision] = [MISSING] * len(layout.candidates)
    for candidates, slots in layout.alike:
        without = with_fallback = choose(candidates, registered, has_fallback=False)
        if without.rule is Rule.MISSING:
            with_fallback = choose(candidates, registered, has_fallback=True)
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
        self._printed: tuple[Mapping[str, str], list[tuple[str, list[str]]], str] | None = None

    @cached_property
    def counts(self) -> Mapping[Rule, int]:
        return Counter(decision.rule for decision in self.decisions)

    @cached_property
    def filled(self) -> frozenset[str]:
        """The slots that a kernel fills, by key."""
        return frozenset(
            key
            for key, decision in zip(self._slots, self.decisions, strict=True)
            if decision.rule not in (Rule.MISSING, Rule.NOT_KNOWN)
        )

    def holding(self, held: Mapping[int, Decision]) -> Plan:
        """The same with other decisions, by slot."""
        other = copy(self)
        other.decisions = tuple(held.get(slot, decision) for slot, decision in enumerate(self.decisions))
        other._printed = None
        for name in ("counts", "filled"):
            vars(other).pop(name, None)
        return other

    def dump(self, texts: Mapping[str, str], fallbacks: Mapping[str, str]) -> str:
        """The text of a table dump.

        texts: what to print for the kernel at each key. fallbacks: the same for the backend fallback of each slot that
        has one; the mapping must not change.
        """
        if self._printed is None or self._printed[0] is not fallbacks:
            self._printed = fallbacks, *self._template(fallbacks)
        _, runs, rest = self._printed
        return "".join([texts[source].join(parts) for source, parts in runs]) + rest

    def _template(self, fallbacks: Mapping[str, str]) -> tuple[list[tuple[str, list[str]]], str]:
        """A dump without the texts of the operator's kernels.

        The keys whose kernels are printed, each with the parts of the dump between which the text of its kernel stands;
        and the rest, which is the whole dump where no kernel is printed.
        """
        runs: list[tuple[str, list[str]]] = []
        last, text = None, ""
        for key, decision in zip(self._slots, self.decisions, strict=True):
            rule, source = decision.rule, decision.source
            if rule is Rule.MISSING:
                continue
            if source is None:
                kernel = fallbacks[key] if rule is Rule.FALLBACK else _WITHOUT_KERNEL[rule]
                text += f"{key}: {kernel} [{rule.dump_text}]\n"
                continue
            if source != last:
                if runs:
                    runs[-1][1].append(text)
                    text = ""
                last = source
                runs.append((source, []))
            runs[-1][1].append(f"{text}{key}: ")
            text = f" [{rule.dump_text}]\n"
        if runs:
            runs[-1][1].append(text)
            text = ""
        return runs, text


@lru_cache(maxsize=8192)
def plan(layout: KeyLayout, registered: int, fallbacks: int) -> Plan:
    """The plan of a pattern.

    registered: bits of the keys with a kernel. fallbacks: bit *i* is set when slot *i* has a backend fallback.
    """
    return Plan(layout, registered, fallbacks)


class Table(Mapping[str, TableEntry]):
    """An operator's table, the canonical one or the live one: runtime key (Undefined first) → entry.

    active: the active registration of every key that has one. plan: the decisions, shared with other operators.
    """

    __slots__ = ("_fallbacks", "_layout", "_slot", "_slots", "active", "plan")

    def __init__(
        self, layout: KeyLayout, plan: Plan, active: Mapping[str, Registration], fallbacks: Mapping[str, Registration]
    ) -> None:
        self.plan = plan
        self._layout = layout
        self._slots = layout.universe.slots
        self._slot = layout.universe.slot
        self.active = active
        self._fallbacks = fallbacks

    def __getitem__(self, key: str) -> TableEntry:
        return entry_for(key, self.plan.decisions[self._slot[key]], self.active, self._fallbacks)

    def holding(self, held: Mapping[str, Decision]) -> Table:
        """The same with other decisions in some slots."""
        changed = self.plan.holding({self._slot[key]: decision for key, decision in held.items()})
        return Table(self._layout, changed, self.active, self._fallbacks)

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


def is_core_fallback(universe: Universe, entry: TableEntry) -> bool:
    """True if the entry is a backend fallback of PyTorch itself."""
    registration = entry.registration
    if entry.rule is not Rule.FALLBACK or registration is None:
        return False
    return universe.own_fallbacks.get(registration.key) == registration.kernel.debug


def answer(entry: TableEntry) -> tuple[object, ...]:
    """The part of an entry that is compared with another one: the rule, and the visible parts of the kernel.

    The header of a captured operator has no signatures and flags, so they do not count.
    """
    kernel = entry.kernel
    otherwise = () if entry.otherwise is None else answer(entry.otherwise)
    seen = () if kernel is None else (kernel.debug, kernel.fallthrough, kernel.span)
    return (entry.rule, *seen, *otherwise)


def changed_slots(before: Table, after: Table) -> Iterator[tuple[TableEntry, TableEntry]]:
    """The slots of two tables of one universe that give different answers, before and after, in table order."""
    for was, became in zip(before.values(), after.values(), strict=True):
        if answer(was) != answer(became):
            yield was, became


def bypassed(
    universe: Universe, keys: Iterable[str], decide: Decide, falls_through: Callable[[str], bool]
) -> Mapping[str, tuple[str, ...]]:
    """The backend keys whose kernels a math kernel at an autograd key above keeps calls from, by that autograd key.

    The math kernel gives way to the kernels of `Universe.autograd_backends` alone. Tensors of other keys carry the same
    autograd key: sparse and quantized ones, and those of MTIA, of which AutogradMTIA knows nothing.
    falls_through: whether dispatch skips a slot.
    """
    backends: dict[str, tuple[str, ...]] = {}
    for key in keys:
        above = next((slot for slot in autograd_keys_of(universe, key) if not falls_through(slot)), None)
        if above is not None and decide(above).rule is Rule.MATH:
            backends[above] = (*backends.get(above, ()), key)
    return backends


def displaced(universe: Universe, decide: Decide) -> Mapping[str, Decision]:
    """The autograd keys that backend kernels take from the math kernel, with no other kernel of the operator there.

    With each, its decision: a fallback or nothing, and the culprits (`Decision.blockers`).
    """
    decisions = ((key, decide(key)) for key in universe.covered_by(AUTOGRAD))
    return {
        key: decision
        for key, decision in decisions
        if decision.blockers and decision.rule in (Rule.FALLBACK, Rule.MISSING)
    }


def unreachable_without_tensors(
    universe: Universe, keys: Iterable[str], decide: Decide, falls_through: Callable[[str], bool]
) -> tuple[str, ...]:
    """The keys whose kernels no call without tensors gets to, where such a call ends at an empty Undefined.

    Its key set is what every call has; where all of that falls through, the Undefined slot decides.
    """
    included = (key for key in universe.default_included if key in universe.slot)
    if decide(UNDEFINED).rule is not Rule.MISSING or not all(map(falls_through, included)):
        return ()
    return tuple(key for key in keys if comes_from_tensors_only(universe, key))


def comes_from_tensors_only(universe: Universe, key: str) -> bool:
    """True if a runtime key comes from tensors alone: a backend's, or an autograd key. Modes bring others: Tracer."""
    if universe.is_alias(key) or key not in universe.slot:
        return False
    return autograd_key_of(universe, key) is not None or key in universe.covered_by(AUTOGRAD)
