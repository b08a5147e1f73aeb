"""Which slots of an operator give another answer in another state, and which change did it.

An answer is the rule, the key that the kernel is registered at, and the identity of that kernel. All but the identity
depends on the pattern alone (the set of keys with a kernel), so that slots are compared once for each pair of patterns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from dispatch_cli.engine.comparison.causes import Answer, CauseFinder, CauseKind, SlotCause
from dispatch_cli.engine.comparison.identity import same_kernel
from dispatch_cli.engine.comparison.sides import OperatorView, Side
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import plan

_OTHER_FALLBACK: tuple[SlotCause, ...] = (SlotCause(CauseKind.FALLBACK_REPLACED, ""),)


class SlotChange(NamedTuple):
    """Slots of an operator that change in the same way. keys: in the order of the table."""

    keys: tuple[str, ...]
    before: Answer
    after: Answer
    causes: tuple[SlotCause, ...]


class _PatternPair(NamedTuple):
    """What two patterns differ in. alike: the slots that both fill from the same key by the same rule, by that key."""

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
        if not replaced:
            return pair.changed
        found = [*pair.changed]
        for source in replaced:
            if source in pair.alike:
                rule, keys = pair.alike[source]
                answer = Answer(rule, source)
                found.append(SlotChange(keys, answer, answer, (SlotCause(CauseKind.REPLACED, source),)))
        return tuple(found)

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


def _groups(side: Side) -> dict[str, int]:
    """Of each slot the number of the group with which it shares all candidates but its own kernel."""
    slots = side.universe.slots
    return {slots[slot]: number for number, (_, found) in enumerate(side.layout.alike) for slot in found}
