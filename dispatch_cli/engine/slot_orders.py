"""The orders of registrations that leave one slot stale; `dispatch_cli.engine.order` says why these are all."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

from dispatch_cli.engine.rules import Decision, Rule, decide
from dispatch_cli.engine.table.layout import KeyLayout


class Unit(NamedTuple):
    """A registration as it counts here. function: equal for two kernels of one function."""

    key: str
    catch_all: bool
    function: Hashable


class Way(NamedTuple):
    """An order that leaves the slot stale.

    live: the decision that stays. order: numbers of blocks. refreshed: how many registrations there are up to the last
    that refreshes the slot.
    """

    live: Decision
    order: tuple[int, ...]
    refreshed: int


class SlotBlock(NamedTuple):
    """A block as the slot sees it.

    size: how many registrations it has. refreshed: how many up to the last one that refreshes the slot, 0 where none
    does; then the whole block counts as before that.
    before, bits: roles of what it registers up to there, and in all.
    newest_before, newest: the function of its newest kernel at each key that can fill the slot, likewise.
    """

    number: int
    size: int
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


class Newest(NamedTuple):
    """A choice of the newest kernel at the key that fills the slot.

    function: whose it is. block: the block that has to come after all others with that key; None where none has to.
    inside: blocks that have to be before the last refresher. outside: the block that has to be after it.
    """

    function: Hashable
    block: SlotBlock | None = None
    inside: tuple[SlotBlock, ...] = ()
    outside: SlotBlock | None = None


def answer_of(decision: Decision) -> tuple[Rule, str | None]:
    """The part of a decision that is compared: two decisions are the same where it is equal."""
    return decision.rule, decision.source


def all_bits(blocks: Iterable[SlotBlock]) -> int:
    """The roles of everything that the blocks register."""
    bits = 0
    for block in blocks:
        bits |= block.bits
    return bits


def sums(start: int, blocks: Iterable[SlotBlock]) -> Mapping[int, frozenset[int]]:
    """Every sum of a choice of blocks, each with the numbers of blocks that give it; the smallest choice first."""
    choices: dict[int, frozenset[int]] = {start: frozenset()}
    for bits, block in {block.bits: block for block in blocks}.items():
        for registered, chosen in list(choices.items()):
            choices.setdefault(registered | bits, chosen | {block.number})
    return choices


class SlotOrders:
    """One slot and blocks of registrations.

    blocks: each with its registrations, oldest first. fallback: the function of the slot's backend fallback.
    closed: `KeyLayout.closed` for an operator of which no kernel is unknown.
    """

    def __init__(
        self,
        layout: KeyLayout,
        key: str,
        blocks: Sequence[Sequence[Unit]],
        fallback: Hashable | None = None,
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
        self._decided: dict[int, Decision] = {}
        seen = [self._block(number, block) for number, block in enumerate(blocks)]
        self._blocks = self._leaders([block for block in seen if block.refreshed or block.bits])

    def shortest(self) -> Way | None:
        """The fewest blocks that alone leave the slot stale as an order of all does; None where no order does."""
        lives = {answer_of(way.live) for way in self._ways(self._blocks)}
        if not lives:
            return None
        canonical = answer_of(self._canonical(self._blocks))
        unlike = {block.likeness: block for block in reversed(self._blocks)}  # the first of those that are alike
        chosen = sorted(unlike.values(), key=lambda block: block.number)
        few = (few for count in range(1, len(chosen) + 1) for few in combinations(chosen, count))
        ways = (way for blocks in few if answer_of(self._canonical(blocks)) == canonical for way in self._ways(blocks))
        return next(way for way in ways if answer_of(way.live) in lives)

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

    # the enumeration

    def _ways(self, blocks: Sequence[SlotBlock]) -> Iterator[Way]:
        """For each live decision that can be left stale, an order that does it."""
        canonical, done = self._canonical(blocks), set()
        refreshers = [block for block in blocks if block.refreshed]
        free = [block for block in blocks if not block.refreshed]
        # the last of them first: what comes of it is nearest to the order in which they are given
        for last in {block.likeness: block for block in reversed(refreshers)}.values() if refreshers else (None,):
            early = [block for block in refreshers if block is not last]
            start = all_bits(early) | (last.before if last is not None else 0)
            for registered in sums(start, free if last is not None else ()):
                live = self._decide(registered)
                if answer_of(live) not in done:
                    way = self._order(live, canonical, last, early, free)
                    if way is not None:
                        done.add(answer_of(live))
                        yield way

    def _order(
        self, live: Decision, canonical: Decision, last: SlotBlock | None, early: list[SlotBlock], free: list[SlotBlock]
    ) -> Way | None:
        """An order with that last refresher that leaves *live* where *canonical* is right, or None."""
        if Rule.NOT_KNOWN in (live.rule, canonical.rule):
            return None
        same = live.source is not None and live.source == canonical.source
        for end in self._at_the_end(canonical, last, early, free):
            for then in self._at_the_last_refresh(live, last, early, free):
                if then.function == end.function or (same and end.block is not None and end.outside is None):
                    continue
                late = self._late(live, canonical, then, end)
                inside = {block.number for block in (*then.inside, *end.inside)}
                if late is None or (end.outside is not None and end.outside.number in inside):
                    continue
                chosen = self._choose(live, last, early, free, inside, end.outside)
                if chosen is not None:
                    return self._arranged(live, last, [*early, *chosen], free, late, end.outside)
        return None

    def _at_the_last_refresh(
        self, live: Decision, last: SlotBlock | None, early: list[SlotBlock], free: list[SlotBlock]
    ) -> Iterator[Newest]:
        """Candidates for the function of the live entry, for a decision."""
        if live.source is None:
            yield Newest(self._function(live))
            return
        bit = self._layout.registered_bit[live.source]
        if last is not None and bit in last.newest_before:
            yield Newest(last.newest_before[bit])
            return
        for block in early:
            if bit in block.newest:
                yield Newest(block.newest[bit], block)
        for block in free:
            if bit in block.newest:
                yield Newest(block.newest[bit], block, inside=(block,))

    def _at_the_end(
        self, canonical: Decision, last: SlotBlock | None, early: list[SlotBlock], free: list[SlotBlock]
    ) -> Iterator[Newest]:
        """Candidates for the function of the canonical entry."""
        if canonical.source is None:
            yield Newest(self._function(canonical))
            return
        bit = self._layout.registered_bit[canonical.source]
        holders = [block for block in free if bit in block.newest]
        for block in holders:
            yield Newest(block.newest[bit], outside=block)
        inside = tuple(holders)
        if last is None:
            return
        if bit in last.newest:
            yield Newest(last.newest[bit], inside=inside)
            return
        for block in (*early, *holders):
            if bit in block.newest:
                yield Newest(block.newest[bit], block, inside)

    def _late(self, live: Decision, canonical: Decision, then: Newest, end: Newest) -> list[SlotBlock] | None:
        """The blocks that come last before the last refresher, in order; None where they stand in each other's way."""
        wanted = [newest.block for newest in (end, then) if newest.block is not None]
        if len(wanted) < 2 or wanted[0] is wanted[1]:
            return wanted[:1]
        assert live.source is not None
        assert canonical.source is not None
        if self._layout.registered_bit[canonical.source] not in wanted[1].newest:
            return wanted
        if self._layout.registered_bit[live.source] not in wanted[0].newest:
            return wanted[::-1]
        return None

    def _choose(
        self,
        live: Decision,
        last: SlotBlock | None,
        early: list[SlotBlock],
        free: list[SlotBlock],
        inside: set[int],
        outside: SlotBlock | None,
    ) -> list[SlotBlock] | None:
        """Free blocks to have before the last refresher, so that it leaves that decision; None where none do."""
        forced = [block for block in free if block.number in inside]
        if last is None:
            return None if forced else []
        rest = [block for block in free if block.number not in inside and block is not outside]
        start = all_bits([*early, *forced]) | last.before
        for registered, chosen in sums(start, rest).items():
            if answer_of(self._decide(registered)) == answer_of(live):
                return [*forced, *(block for block in rest if block.number in chosen)]
        return None

    def _arranged(
        self,
        live: Decision,
        last: SlotBlock | None,
        before: list[SlotBlock],
        free: list[SlotBlock],
        late: list[SlotBlock],
        outside: SlotBlock | None,
    ) -> Way:
        """The order: those before the last refresher, the late ones last; then it; then the rest, *outside* last."""
        numbers = {block.number for block in before}
        held = {block.number for block in late}
        order = sorted((block for block in before if block.number not in held), key=lambda block: block.number) + late
        after = [block for block in free if block.number not in numbers and block is not outside]
        refreshed = 0
        if last is not None:
            order.append(last)
            refreshed = sum(block.size for block in order) - last.size + last.refreshed
        order += [*after, outside] if outside is not None else after
        return Way(live, tuple(block.number for block in order), refreshed)

    # the slot

    def _block(self, number: int, units: Sequence[Unit]) -> SlotBlock:
        refreshed = max((at for at, unit in enumerate(units, 1) if self._refreshes(unit)), default=0)
        before, newest_before = self._registered(units[: refreshed or len(units)])
        bits, newest = self._registered(units)
        return SlotBlock(number, len(units), refreshed, before, bits, newest_before, newest)

    def _refreshes(self, unit: Unit) -> bool:
        return unit.catch_all or self._key in self._layout.universe.refreshed_by(unit.key)

    def _registered(self, units: Iterable[Unit]) -> tuple[int, dict[int, Hashable]]:
        bits, newest = 0, {}
        for unit in units:
            bit = self._layout.registered_bit[unit.key]
            bits |= self._role(bit)
            if bit & self._sources:
                newest[bit] = unit.function
        return bits, newest

    def _role(self, bit: int) -> int:
        """A bit that means the same to the decision; 0 where it means nothing."""
        if bit & self._sources:
            return bit
        role = tuple(
            bool(bit & mask) for candidate in self._candidates for mask in (candidate.unless, candidate.ambiguous)
        )
        return self._roles.setdefault(role, bit) if any(role) else 0

    def _canonical(self, blocks: Iterable[SlotBlock]) -> Decision:
        return self._decide(all_bits(blocks))

    def _decide(self, registered: int) -> Decision:
        decision = self._decided.get(registered)
        if decision is None:
            decided = decide(self._candidates, registered | self._closed, self._fallback is not None)
            decision = self._decided[registered] = decided
        return decision

    def _function(self, decision: Decision) -> Hashable:
        """The function of a decision for none of the operator's kernels."""
        return self._fallback if decision.rule is Rule.FALLBACK else decision.rule
