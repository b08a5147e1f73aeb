"""Registrations and blocks of them as one slot sees them; `dispatch_cli.engine.order.slot` puts them in order."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from dispatch_cli.engine.rules import Decision, Rule


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
