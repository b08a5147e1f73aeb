"""The orders of registrations that leave one slot stale; `dispatch_cli.engine.order` says why these are all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import permutations
from typing import NamedTuple

from dispatch_cli.engine.rules import Decision, Rule, decide
from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.registration import Registration

MOST_BLOCKS = 6
"""Blocks that differ for a slot; where there are more, no order is looked for. No operator of PyTorch has over four."""


class Way(NamedTuple):
    """An order that leaves the slot stale.

    live: the decision that stays. canonical: the one that the registrations determine. blocks: how many there are.
    refreshed: how many registrations there are up to the last that refreshes the slot.
    """

    live: Decision
    canonical: Decision
    order: tuple[Registration, ...]
    blocks: int
    refreshed: int

    @property
    def answers(self) -> tuple[object, ...]:
        """The part that is compared: two ways do the same where it is equal."""
        return self.live.rule, self.live.source, self.canonical.rule, self.canonical.source


class SlotBlock(NamedTuple):
    """A block as the slot sees it.

    registrations: oldest first. refreshed: how many up to the last one that refreshes the slot, 0 where none does; then
    the whole block counts as before that.
    before, bits: roles of what it registers up to there, and in all.
    newest_before, newest: the function of its newest kernel at each key that can fill the slot, likewise.
    """

    registrations: Sequence[Registration]
    refreshed: int
    before: int
    bits: int
    newest_before: dict[int, Hashable]
    newest: dict[int, Hashable]

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Blocks of equal likeness can stand for one another."""
        return (*self.shape, *self.newest_before.values(), *self.newest.values())

    @property
    def shape(self) -> tuple[Hashable, ...]:
        """The same, but for the functions."""
        return (self.refreshed > 0, self.before, self.bits, tuple(self.newest_before), tuple(self.newest))


class SlotOrders:
    """One slot and blocks of registrations.

    blocks: each with its registrations, oldest first. fallback: the slot's backend fallback.
    closed: `KeyLayout.closed` for an operator of which no kernel is unknown.
    """

    def __init__(
        self,
        layout: KeyLayout,
        key: str,
        blocks: Iterable[Sequence[Registration]],
        fallback: Registration | None = None,
        closed: int = 0,
    ) -> None:
        self._closed = closed
        self._layout = layout
        self._key = key
        self._candidates = layout.candidates[layout.universe.slot[key]]
        self._fallback = fallback
        self._sources = 0
        for candidate in self._candidates:
            self._sources |= candidate.bit
        self._roles: dict[tuple[bool, ...], int] = {}
        seen = map(self._block, blocks)
        self._blocks = self._leaders([block for block in seen if block.refreshed or block.bits])

    def shortest(self) -> Way | None:
        """The fewest blocks that alone leave the slot stale as an order of all does; None where no order does."""
        every = len(self._blocks)
        if every > MOST_BLOCKS:
            return None
        ways = [way for count in range(1, every + 1) for way in self._ways(count)]
        whole = {way.answers for way in ways if way.blocks == every}
        return next((way for way in ways if way.answers in whole), None)

    def _ways(self, count: int) -> Iterator[Way]:
        """The orders of so many blocks that leave the slot stale."""
        return filter(None, map(self._way, permutations(self._blocks, count)))

    def _way(self, order: Sequence[SlotBlock]) -> Way | None:
        """An order; None where it leaves the slot in order, or it is not known what belongs there."""
        bits, size, newest = 0, 0, dict[int, Hashable]()
        bits_then, refreshed, newest_then = 0, 0, dict[int, Hashable]()
        for block in order:
            if block.refreshed:
                bits_then, newest_then = bits | block.before, {**newest, **block.newest_before}
                refreshed = size + block.refreshed
            bits, size = bits | block.bits, size + len(block.registrations)
            newest.update(block.newest)
        live, canonical = self._decide(bits_then), self._decide(bits)
        if Rule.NOT_KNOWN in (live.rule, canonical.rule):
            return None
        if self._function(live, newest_then) == self._function(canonical, newest):
            return None
        registrations = tuple(registration for block in order for registration in block.registrations)
        return Way(live, canonical, registrations, len(order), refreshed)

    def _leaders(self, blocks: Sequence[SlotBlock]) -> list[SlotBlock]:
        """Blocks enough for every difference: any other, right before one of them, does nothing that it does not redo.

        Of blocks that register at one key that can fill the slot, or at none, two different functions are enough: one
        of them differs from whatever third there is. Of blocks with equal functions, two: one can be before the last
        refresher, or it, and the other after it.
        """
        leaders: list[SlotBlock] = []
        groups: dict[Hashable, dict[Hashable, list[SlotBlock]]] = {}
        for block in blocks:
            group = groups.setdefault(block.shape, {})
            alike = group.get(block.likeness)
            if alike is None and len(group) >= 2 and len(block.newest) < 2:
                alike = next(iter(group.values()))
            if alike is not None and (len(alike) >= 2 or block.likeness != alike[0].likeness):
                continue
            group.setdefault(block.likeness, []).append(block)
            leaders.append(block)
        return leaders

    # the slot

    def _block(self, block: Sequence[Registration]) -> SlotBlock:
        refreshed = max((at for at, registration in enumerate(block, 1) if self._refreshes(registration)), default=0)
        before, newest_before = self._registered(block[: refreshed or len(block)])
        bits, newest = self._registered(block)
        return SlotBlock(block, refreshed, before, bits, newest_before, newest)

    def _refreshes(self, registration: Registration) -> bool:
        return registration.catch_all or self._key in self._layout.universe.refreshed_by(registration.key)

    def _registered(self, block: Iterable[Registration]) -> tuple[int, dict[int, Hashable]]:
        bits, newest = 0, {}
        for registration in block:
            bit = self._layout.registered_bit[registration.key]
            bits |= self._role(bit)
            if bit & self._sources:
                newest[bit] = registration.function
        return bits, newest

    def _role(self, bit: int) -> int:
        """A bit that means the same to the decision; 0 where it means nothing."""
        if bit & self._sources:
            return bit
        role = tuple(
            bool(bit & mask) for candidate in self._candidates for mask in (candidate.unless, candidate.ambiguous)
        )
        return self._roles.setdefault(role, bit) if any(role) else 0

    def _decide(self, registered: int) -> Decision:
        return decide(self._candidates, registered | self._closed, self._fallback is not None)

    def _function(self, decision: Decision, newest: dict[int, Hashable]) -> Hashable:
        """The function of a decision. newest: of each key that can fill the slot."""
        if decision.source is not None:
            return newest[self._layout.registered_bit[decision.source]]
        if decision.rule is Rule.FALLBACK and self._fallback is not None:
            return self._fallback.function
        return decision.rule
