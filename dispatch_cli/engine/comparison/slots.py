"""Slots of an operator that give another answer in another state, with the changes that caused it.

An answer is the rule, the key that the kernel is registered at, and the identity of that kernel. All but the identity
depends on the pattern alone (the set of keys with a kernel), so that slots are compared once for each pair of patterns.
Only where the order of the registrations left a slot stale, an operator has an answer of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.comparison.sides import KernelView, OperatorView, Side, StaleSlot, same_active, same_kernel
from dispatch_cli.engine.rules import Rule, decide
from dispatch_cli.engine.table.table import plan


class Answer(NamedTuple):
    """Decision for a slot. source: the key where its kernel is registered; None where it is none of the operator's."""

    rule: Rule
    source: str | None


class CauseKind(Enum):
    """Cause of another answer of a slot; the value is the name in machine formats."""

    ADDED = "registration-added"
    REMOVED = "registration-removed"
    REPLACED = "registration-replaced"
    FALLBACK_ADDED = "fallback-added"
    FALLBACK_REMOVED = "fallback-removed"
    FALLBACK_REPLACED = "fallback-replaced"
    LEFT_STALE = "order-stale"
    """The order of registrations: in the new state, PyTorch does not recompute the slot at the last one of them."""
    WAS_STALE = "order-no-longer-stale"
    """The order of registrations: it left the slot of the old state stale."""
    UNIVERSE = "universe"
    """The keys differ: what an alias covers, or which backends an autograd key has."""


class SlotCause(NamedTuple):
    """A change that a slot's answer follows from.

    key: where the kernel is registered; of a stale slot, the kernel that left it so. Of a fallback it is the slot's own
    key, and it is empty here, so that slots of many keys have one cause. Of UNIVERSE it is the alias that covers the
    slot in one of the universes alone; empty where it is none.
    """

    kind: CauseKind
    key: str


class CauseFinder:
    """Finds the causes for operators that have kernels at the same keys as *before* and *after*.

    A cause is found by trying. All changes together lead to the new answer; those without which it stays the new one
    are left out, one after the other. What remains suffices, and nothing of it can be left out.
    """

    def __init__(self, old: Side, new: Side, before: OperatorView, after: OperatorView) -> None:
        self._sides = (old, new)
        self._registered = (before.registered, after.registered)
        self._came = tuple(key for key in after.kernels if key not in before.kernels)
        self._went = tuple(key for key in before.kernels if key not in after.kernels)
        kernels = dict.fromkeys((*before.kernels, *after.kernels))
        self._aliases = [key for key in kernels if old.universe.is_alias(key) or new.universe.is_alias(key)]

    def causes(self, key: str, wanted: Answer) -> tuple[SlotCause, ...]:
        """The changes that lead to the new answer *wanted* at a runtime key whose answer was another one before."""
        old, new = self._sides
        needed = [source for source in (*self._went, *self._came) if self._matters(source, key)]
        fallback = (key in old.fallbacks) != (key in new.fallbacks)
        universe = not self._leads(key, wanted, needed, needed, False, fallback)
        every = tuple(needed)
        if fallback and self._leads(key, wanted, every, needed, universe, False):
            fallback = False
        for source in reversed(every):
            fewer = [other for other in needed if other != source]
            if self._leads(key, wanted, every, fewer, universe, fallback):
                needed = fewer
        reasons = [
            SlotCause(CauseKind.REMOVED if source in self._went else CauseKind.ADDED, source) for source in needed
        ]
        if fallback:
            reasons.append(
                SlotCause(CauseKind.FALLBACK_ADDED if key in new.fallbacks else CauseKind.FALLBACK_REMOVED, "")
            )
        if universe:
            reasons.append(SlotCause(CauseKind.UNIVERSE, self._other_cover(key)))
        return tuple(reasons)

    def _other_cover(self, key: str) -> str:
        """The alias with a kernel that covers the slot in one of the two universes alone; empty where there is none."""
        covers = [side.universe.aliases for side in self._sides]
        registered = (
            alias for alias in self._aliases if (key in covers[0].get(alias, ())) != (key in covers[1].get(alias, ()))
        )
        return next(registered, "")

    def _matters(self, source: str, key: str) -> bool:
        """True if the rules look at *source* when they decide the slot of *key*."""
        return any(key in side.layout.affected.get(source, ()) for side in self._sides)

    def _leads(
        self, key: str, wanted: Answer, changes: Iterable[str], chosen: Sequence[str], universe: bool, fallback: bool
    ) -> bool:
        """True if the chosen changes alone, of all changes, lead to the answer."""
        side = self._sides[universe]
        registered, bits = self._registered[universe], side.layout.registered_bit
        for change in changes:
            if (change in chosen) is not universe:
                registered ^= bits.get(change, 0)
        candidates = side.layout.candidates[side.universe.slot[key]]
        has_fallback = key in self._sides[fallback].fallbacks
        decision = decide(candidates, registered, has_fallback)
        return decision.rule is wanted.rule and decision.source == wanted.source


_OTHER_FALLBACK: tuple[SlotCause, ...] = (SlotCause(CauseKind.FALLBACK_REPLACED, ""),)


class SlotChange(NamedTuple):
    """Slots of an operator that change in the same way. keys: in the order of the table."""

    keys: tuple[str, ...]
    before: Answer
    after: Answer
    causes: tuple[SlotCause, ...]


class _PatternPair(NamedTuple):
    """Differences of two patterns. alike: the slots that both fill from the same key by the same rule, by that key."""

    changed: tuple[SlotChange, ...]
    alike: Mapping[str, tuple[Rule, tuple[str, ...]]]


class SlotComparison:
    """Compares slots of two sides at the keys that both universes have.

    shared: these keys, in the order of the new table. only_old, only_new: the slots that one universe has alone.
    fallbacks: the keys at which both sides have a fallback, and not the same one.
    """

    def __init__(self, old: Side, new: Side) -> None:
        self.old, self.new = old, new
        old_slots, new_slots = old.universe.slot, new.universe.slot
        self.shared = tuple(key for key in new.universe.slots if key in old_slots)
        self.only_old = tuple(key for key in old.universe.slots if key not in new_slots)
        self.only_new = tuple(key for key in new.universe.slots if key not in old_slots)
        self.fallbacks = frozenset(
            key
            for key, fallback in old.fallbacks.items()
            if key in new.fallbacks and not same_kernel(fallback, new.fallbacks[key])
        )
        groups = [_groups(old), _groups(new)]
        self._likeness = {
            key: (*(group[key] for group in groups), key in old.fallbacks, key in new.fallbacks) for key in self.shared
        }
        self._places = [(key, old_slots[key], new_slots[key]) for key in self.shared]
        self._pairs: dict[tuple[int, int], _PatternPair] = {}

    def changes(self, old: OperatorView, new: OperatorView, replaced: Collection[str]) -> tuple[SlotChange, ...]:
        """The slots that change. replaced: the keys at which the active kernel is another one."""
        pair = self._pairs.get((old.registered, new.registered))
        if pair is None:
            pair = self._pairs[old.registered, new.registered] = self._compare(old, new)
        slot_changes = [*pair.changed]
        for source in replaced:
            if source in pair.alike:
                rule, keys = pair.alike[source]
                answer = Answer(rule, source)
                slot_changes.append(SlotChange(keys, answer, answer, (SlotCause(CauseKind.REPLACED, source),)))
        if old.stale or new.stale:
            slot_changes = self._with_stale(slot_changes, old, new, replaced)
        return tuple(slot_changes)

    def _with_stale(
        self, changes: Iterable[SlotChange], old: OperatorView, new: OperatorView, replaced: Collection[str]
    ) -> list[SlotChange]:
        """The changes, with what the live tables hold where they are stale: this is what calls run."""
        stale = [key for key in self.shared if key in old.stale or key in new.stale]
        causes = {key: change.causes for change in changes for key in change.keys}
        kept = (change._replace(keys=tuple(key for key in change.keys if key not in stale)) for change in changes)
        unaffected = [change for change in kept if change.keys]
        groups: dict[tuple[object, ...], SlotChange] = {}
        for key in stale:
            was, became = self.old.slot(old, key), self.new.slot(new, key)
            answers = [Answer(slot.decision.rule, slot.decision.source) for slot in (was, became)]
            if answers[0] != answers[1] or not _same(was.kernel, became.kernel, old, new, answers[0].source):
                if key in new.stale:
                    why = (*_arrival(answers[1].source, old, replaced), _order(CauseKind.LEFT_STALE, new.stale[key]))
                else:
                    why = causes.get(key) or (_order(CauseKind.WAS_STALE, old.stale[key]),)
                change = SlotChange((key,), answers[0], answers[1], why)
                kernels = (None if slot.decision.source is None else slot.kernel for slot in (was, became))
                likeness = (*change[1:], *kernels)
                before = groups.get(likeness)
                groups[likeness] = change if before is None else before._replace(keys=(*before.keys, key))
        return [*unaffected, *groups.values()]

    def _compare(self, old: OperatorView, new: OperatorView) -> _PatternPair:
        before = plan(self.old.layout, old.registered, self.old.dispatcher.fallback_bits).decisions
        after = plan(self.new.layout, new.registered, self.new.dispatcher.fallback_bits).decisions
        changed: dict[tuple[Answer, Answer, tuple[SlotCause, ...]], list[str]] = {}
        alike: dict[str, tuple[Rule, list[str]]] = {}
        known: dict[tuple[object, ...], tuple[SlotCause, ...]] = {}
        finder = CauseFinder(self.old, self.new, old, new)
        for key, old_slot, new_slot in self._places:
            was, became = before[old_slot], after[new_slot]
            if was.rule is became.rule and was.source == became.source:
                if was.source is not None:
                    alike.setdefault(was.source, (was.rule, []))[1].append(key)
                    continue
                if was.rule is not Rule.FALLBACK or key not in self.fallbacks:
                    continue
                causes = _OTHER_FALLBACK
            else:
                # slots that differ in nothing that the rules look at have one cause
                likeness = (was, became, *self._likeness[key])
                if likeness not in known:
                    known[likeness] = finder.causes(key, Answer(became.rule, became.source))
                causes = known[likeness]
            answers = (Answer(was.rule, was.source), Answer(became.rule, became.source), causes)
            changed.setdefault(answers, []).append(key)
        return _PatternPair(
            tuple(SlotChange(tuple(keys), *answers) for answers, keys in changed.items()),
            {source: (rule, tuple(keys)) for source, (rule, keys) in alike.items()},
        )


def _same(
    before: KernelView | None, after: KernelView | None, old: OperatorView, new: OperatorView, source: str | None
) -> bool:
    """True if two slots hold the same kernel, which is registered at *source* in both states."""
    if before is None or after is None:
        return before is after
    below = [view.kernels.get(source or "", ())[1:] for view in (old, new)]
    return same_active((before, *below[0]), (after, *below[1]))


def _arrival(source: str | None, old: OperatorView, replaced: Collection[str]) -> Iterator[SlotCause]:
    """The registration of the kernel that a slot holds, where it is not the one of the old state."""
    if source is not None and source not in old.kernels:
        yield SlotCause(CauseKind.ADDED, source)
    elif source in replaced:
        yield SlotCause(CauseKind.REPLACED, source or "")


def _order(kind: CauseKind, stale: StaleSlot) -> SlotCause:
    return SlotCause(kind, stale.cause_key)


def _groups(side: Side) -> dict[str, int]:
    """For each slot, the number of the group with which it shares all candidates but its own kernel."""
    slots = side.universe.slots
    return {slots[slot]: number for number, (_, members) in enumerate(side.layout.alike) for slot in members}
