"""Every order of an operator's registrations, run on the engine: `dispatch_cli.engine.order` has to agree with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.layout import layout_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, Universe

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
    """What all orders leave stale, and how few blocks it takes for each: in the order of a sequence of them, alone."""

    stale: frozenset[Stale]
    shortest: dict[str, int]


def every_order(dispatcher: Dispatcher, blocks: Sequence[Sequence[Call]]) -> BruteForce:
    """Run every sequence of blocks, the whole ones and the shorter ones. The dispatcher is left as it was."""
    whole: set[Stale] = set()
    shortest: dict[Stale, int] = {}
    for count, found in _sequences(dispatcher, blocks, frozenset()):
        for stale in found:
            shortest[stale] = min(count, shortest.get(stale, count))
        if count == len(blocks):
            whole |= found
    fewest = {slot: min(shortest[one] for one in whole if one.slot == slot) for slot in {one.slot for one in whole}}
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
    """What is stale now."""
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
