"""Order sensitivity against brute force: every order of small registration sets is run on the engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.order import Orders, SensitiveSlot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, Universe
from tests.engine.live_cases import LiveCase, Side, answers_to

NAME = OperatorName("demo::op")


class Call(NamedTuple):
    """``impl`` of a kernel at a key; key None is the catch-all."""

    key: str | None
    kernel: Kernel


class Stale(NamedTuple):
    """A stale slot: the decisions that it holds and should hold."""

    slot: str
    live: tuple[Rule, str | None]
    canonical: tuple[Rule, str | None]


class BruteForce(NamedTuple):
    """Slots that all orders leave stale, and the fewest blocks for each: in the order of a sequence of them, alone."""

    stale: frozenset[Stale]
    shortest: dict[str, int]


def every_order(dispatcher: Dispatcher, blocks: Sequence[Sequence[Call]]) -> BruteForce:
    """Run every sequence of blocks, the whole ones and the shorter ones. The dispatcher is left as it was."""
    whole: set[Stale] = set()
    shortest: dict[Stale, int] = {}
    for count, stale_now in _sequences(dispatcher, blocks, frozenset()):
        for stale in stale_now:
            shortest[stale] = min(count, shortest.get(stale, count))
        if count == len(blocks):
            whole |= stale_now
    fewest = {
        slot: min(shortest[entry] for entry in whole if entry.slot == slot) for slot in {entry.slot for entry in whole}
    }
    return BruteForce(frozenset(whole), fewest)


def _sequences(
    dispatcher: Dispatcher, blocks: Sequence[Sequence[Call]], used: frozenset[int]
) -> Iterator[tuple[int, frozenset[Stale]]]:
    for number, block in enumerate(blocks):
        if number not in used:
            before = dispatcher.checkpoint()
            for call in block:
                dispatcher.implement(NAME, call.key, call.kernel)
            yield len(used) + 1, stale_slots(dispatcher)
            yield from _sequences(dispatcher, blocks, used | {number})
            dispatcher.restore(before)


def stale_slots(dispatcher: Dispatcher) -> frozenset[Stale]:
    """Slots that are stale now."""
    return frozenset(
        Stale(
            entry.canonical.key,
            (entry.live.rule, entry.live.decision.source),
            (entry.canonical.rule, entry.canonical.decision.source),
        )
        for entry in dispatcher.stale_entries(NAME)
    )


def random_call(random: Random, universe: Universe, number: int) -> Call:
    """A kernel at a key that matters to others more often than not, now and then of a function that others have too."""
    behind = [key for key in universe.keys_by_id if layout_of(universe).left_behind(key, fallback=False)]
    kinds = ([CATCH_ALL], behind, universe.aliases, ["CPU", "AutogradOther", "AutogradNestedTensor"], universe.runtime)
    key = random.choice(list(random.choices(kinds, (4, 4, 3, 1, 1))[0])) if random.random() < 0.95 else None
    function = None if random.random() < 0.7 else f"shared {random.randrange(2)}"
    return Call(key, Kernel(f"kernel {number}", function, fallthrough=random.random() < 0.15))


def random_blocks(random: Random, universe: Universe, single: bool) -> list[list[Call]]:
    """Few enough registrations to run every order of them. single: one in each block."""
    sizes = [1] * random.randrange(2, 6) if single else [random.randrange(1, 4) for _ in range(random.randrange(2, 5))]
    calls = [random_call(random, universe, number) for number in range(sum(sizes))]
    for number in range(1, min(len(calls), random.choice((1, 1, 1, 2, 3, 4)))):  # several at one key
        calls[number] = Call(calls[0].key, calls[number].kernel)
    random.shuffle(calls)
    return [[calls.pop() for _ in range(size)] for size in sizes]


def random_dispatcher(random: Random, universe: Universe) -> Dispatcher:
    """With PyTorch's own fallbacks or without, and now and then one more."""
    dispatcher = Dispatcher(universe, core_fallbacks=random.random() < 0.8)
    for key in random.sample(universe.runtime, random.randrange(3)):
        if key not in dispatcher.fallbacks:
            function = random.choice((None, "shared 0"))
            dispatcher.fall_back(key, Kernel("fallback", function, fallthrough=random.random() < 0.5))
    return dispatcher


UNIVERSES = ("torch-2.4", "torch-2.15")


def check(dispatcher: Dispatcher, blocks: Sequence[Sequence[Call]], in_blocks: bool) -> int:
    """Compare with brute force; how many slots can go stale."""
    truth = every_order(dispatcher, blocks)
    before = dispatcher.checkpoint()
    placed = [[dispatcher.implement(NAME, call.key, call.kernel) for call in block] for block in blocks]
    sensitive_slots = Orders(dispatcher).sensitive_slots(NAME, placed if in_blocks else None)
    dispatcher.restore(before)
    assert [slot.live.key for slot in sensitive_slots] == sorted(
        truth.shortest, key=dispatcher.universe.slot.__getitem__
    ), blocks
    for slot in sensitive_slots:
        assert run(dispatcher, slot.shortest) >= {shown(slot)}, (slot, blocks)
        assert shown(slot) in truth.stale
        assert count_blocks(slot.shortest, placed) == truth.shortest[slot.live.key], (slot, blocks)
        keys = {(stale.slot, stale.live, stale.canonical) for stale in run(dispatcher, slot.shortest)}
        assert keys & truth.stale, (slot, blocks)
        if in_blocks:
            assert is_in_blocks(slot.shortest, placed)
    return len(sensitive_slots)


def run(dispatcher: Dispatcher, registrations: Sequence[Registration]) -> frozenset[Stale]:
    """Slots that these leave stale, registered anew in this order."""
    before = dispatcher.checkpoint()
    for registration in registrations:
        # a kernel of a function of its own is the same one again here
        kernel = registration.kernel._replace(function=registration.kernel.function or registration.kernel.debug)
        dispatcher.implement(NAME, None if registration.catch_all else registration.key, kernel)
    stale = stale_slots(dispatcher)
    dispatcher.restore(before)
    return stale


def shown(one: SensitiveSlot) -> Stale:
    live, canonical = one.live, one.canonical
    return Stale(live.key, (live.rule, live.decision.source), (canonical.rule, canonical.decision.source))


def count_blocks(registrations: Sequence[Registration], blocks: Sequence[Sequence[Registration]]) -> int:
    return len(
        {number for registration in registrations for number, block in enumerate(blocks) if registration in block}
    )


def is_in_blocks(registrations: Sequence[Registration], blocks: Sequence[Sequence[Registration]]) -> bool:
    """True if they are whole blocks, each in its order."""
    rest = list(registrations)
    while rest:
        block = next(block for block in blocks if rest[0] in block)
        if rest[: len(block)] != block:
            return False
        del rest[: len(block)]
    return True


@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("in_blocks", [False, True], ids=["any order", "blocks"])
def test_every_order_of_random_registrations(universe: str, in_blocks: bool) -> None:
    random, layout = Random(f"{universe} {in_blocks}"), universes.load(universe)
    sensitive = 0
    for _ in range(12):
        dispatcher = random_dispatcher(random, layout)
        sensitive += check(dispatcher, random_blocks(random, layout, single=not in_blocks), in_blocks) > 0
    assert 2 < sensitive < 12


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """Some order breaks PyTorch's invariants where we say so."""
    dispatcher, sensitive, stale_today, tried, wrong = Dispatcher(side.universe), 0, 0, 0, []
    empty = dispatcher.checkpoint()
    for each, holds in zip(asked["sets"], answers, strict=True):
        orders = [*map(tuple, each["orders"])]
        registered = [
            dispatcher.implement(NAME, key, Kernel(kind, kind, fallthrough=kind == "fallthrough"))
            for key, kind in each["calls"]
        ]
        sensitive_slots = Orders(dispatcher).sensitive_slots(NAME)
        shortest = [tuple(registered.index(registration) for registration in slot.shortest) for slot in sensitive_slots]
        whole = [order for order in shortest if len(order) == len(registered)]
        agrees = bool(shortest) is not all(holds) and not any(holds[orders.index(order)] for order in whole)
        if not agrees or holds[0] is not (dispatcher.stale_entries(NAME) == []):
            wrong.append(f"{each['calls']}: {shortest}")
        dispatcher.restore(empty)
        sensitive += bool(shortest)
        tried += len(whole)
        stale_today += not holds[0]
    assert len(answers) * 0.1 < sensitive < len(answers) * 0.9
    assert stale_today > len(answers) / 30
    assert tried > len(answers) / 30
    return wrong


CASE = LiveCase(answers_to("orders"), _wrong)
