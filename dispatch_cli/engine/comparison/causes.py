"""The changes that made a slot give another answer: a smallest set of changes that suffices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.comparison.sides import OperatorView, Side
from dispatch_cli.engine.rules import Rule, decide


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
