"""Order sensitivity against brute force: every order of small registration sets is run on the engine."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from random import Random, SystemRandom
from typing import NamedTuple

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.layout import layout_of
from dispatch_cli.engine.order.order import Orders, SensitiveSlot
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import CATCH_ALL, Universe
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python

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


HERE = Path(__file__).parent
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
        assert run(dispatcher, slot.order) >= {shown(slot)}, (slot, blocks)
        assert shown(slot) in truth.stale
        assert len(slot.order) == sum(map(len, blocks))
        assert count_blocks(slot.shortest, placed) == truth.shortest[slot.live.key], (slot, blocks)
        keys = {(stale.slot, stale.live, stale.canonical) for stale in run(dispatcher, slot.shortest)}
        assert keys & truth.stale, (slot, blocks)
        if in_blocks:
            assert is_in_blocks(slot.order, placed)
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


@pytest.mark.slow
@pytest.mark.parametrize("universe", UNIVERSES)
@pytest.mark.parametrize("in_blocks", [False, True], ids=["any order", "blocks"])
def test_every_order_of_random_registrations(universe: str, in_blocks: bool) -> None:
    random, layout = Random(f"{universe} {in_blocks}"), universes.load(universe)
    sensitive = 0
    for _ in range(100):
        dispatcher = random_dispatcher(random, layout)
        sensitive += check(dispatcher, random_blocks(random, layout, single=not in_blocks), in_blocks) > 0
    assert 10 < sensitive < 90


def dispatcher_with(*keys: str, functions: Sequence[str | None] = ()) -> Dispatcher:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    for number, key in enumerate(keys):
        dispatcher.implement(NAME, key, Kernel(f"fn_{key}", functions[number] if functions else None))
    return dispatcher


def answers(dispatcher: Dispatcher) -> list[tuple[str, str, str, list[str]]]:
    return [
        (slot.live.key, slot.live.rule.value, slot.canonical.rule.value, [kernel.key for kernel in slot.shortest])
        for slot in Orders(dispatcher).sensitive_slots(NAME)
    ]


def test_a_backend_kernel_after_the_math_kernel() -> None:
    expected = [("AutogradOther", "math", "ambiguous", [CATCH_ALL, "QuantizedCPU"])]
    assert answers(dispatcher_with("QuantizedCPU", CATCH_ALL)) == expected
    assert answers(dispatcher_with(CATCH_ALL, "QuantizedCPU")) == expected, "today's order does not matter"


def test_a_kernel_of_its_own_at_the_slot_makes_the_order_harmless() -> None:
    assert answers(dispatcher_with("QuantizedCPU", CATCH_ALL, "AutogradOther")) == []


def test_functions_count_as_pytorch_counts_them() -> None:
    keys = (CATCH_ALL, "Autograd", "NestedTensorCPU")
    expected = [("AutogradNestedTensor", "math", "autograd", ["Autograd", CATCH_ALL, "NestedTensorCPU"])]
    assert answers(dispatcher_with(*keys)) == expected
    assert answers(dispatcher_with(*keys, functions=("one", "one", "two"))) == []
    assert answers(dispatcher_with(*keys, functions=("one", "two", "two"))) == expected


def test_a_catch_all_refreshes_every_slot() -> None:
    dispatcher = dispatcher_with("QuantizedCPU")
    dispatcher.implement(NAME, None, Kernel("catch all"))
    (slot,) = Orders(dispatcher).sensitive_slots(NAME)
    assert [kernel.kernel.debug for kernel in slot.shortest] == ["catch all", "fn_QuantizedCPU"]


@pytest.mark.slow
@pytest.mark.parametrize("universe", UNIVERSES)
def test_many_registrations_at_few_keys(universe: str) -> None:
    """Very many kernels, each of a function of its own, are what a few of them are."""
    keys = ["Autograd", CATCH_ALL, "NestedTensorCPU", "QuantizedCPU", "FuncTorchBatchedDecomposition"]
    few, many = (Dispatcher(universes.load(universe)) for _ in range(2))
    for dispatcher, count in ((few, 2), (many, 500)):
        for key in keys:
            for number in range(count):
                dispatcher.implement(NAME, key, Kernel(f"{key} {number}"))
    expected, slots = (Orders(dispatcher).sensitive_slots(NAME) for dispatcher in (few, many))
    assert [shown(slot) for slot in slots] == [shown(slot) for slot in expected]
    assert [[registration.key for registration in slot.shortest] for slot in slots] == [
        [registration.key for registration in slot.shortest] for slot in expected
    ]
    for one in slots:
        assert len(one.order) == 500 * len(keys)
        assert run(Dispatcher(few.universe), one.order) >= {shown(one)}


@pytest.mark.parametrize("base", UNIVERSES)
def test_operators_of_pytorch(base: str) -> None:
    """Every answer about an embedded state, by its own order; a sample of the others by brute force."""
    source = bases.load(base)
    dispatcher, plain = Dispatcher(source.universe, base=source), Dispatcher(source.universe)
    orders, random = Orders(dispatcher), Random(base)
    names = [OperatorName.parse(name) for name in source.names]
    sensitive = [name for name in names if orders.sensitive_slots(name)]
    assert sensitive, "something is tried"
    for name in random.sample(sensitive, min(40, len(sensitive))):
        for slot in orders.sensitive_slots(name):
            assert run(plain, slot.order) >= {shown(slot)}
            assert {stale.slot for stale in run(plain, slot.shortest)} >= {slot.live.key}
    small = [name for name in names if 2 <= len(dispatcher.active(name)) <= 4]
    for name in random.sample(small, 40):
        kernels = {key: one.kernel._replace(fake=None) for key, one in dispatcher.active(name).items()}
        calls = [[Call(key, kernel)] for key, kernel in kernels.items()]  # a fake kernel needs a definition
        slots = {slot.live.key for slot in orders.sensitive_slots(name)}
        if not dispatcher.header(name).overridden:
            assert slots == set(every_order(plain, calls).shortest)


@pytest.mark.parametrize("universe", UNIVERSES)
def test_fallbacks_do_nothing_that_having_them_first_does_not(universe: str) -> None:
    """Orders of registrations and fallbacks together leave the same slots stale as those of registrations alone."""
    random, layout = Random(universe), universes.load(universe)
    sensitive = 0
    for _ in range(80):
        dispatcher = Dispatcher(layout, core_fallbacks=random.random() < 0.5)
        calls = [random_call(random, layout, number) for number in range(random.randrange(1, 4))]
        free = [
            key for key in ("FuncTorchBatched", "NestedTensorCPU", "AutogradOther") if key not in dispatcher.fallbacks
        ]
        free += [key for key in ("AutogradNestedTensor", "CPU", "QuantizedCPU") if key not in dispatcher.fallbacks]
        fallbacks = random.sample(free, random.randrange(1, 3))
        start, stale = dispatcher.checkpoint(), set()
        steps: list[Call | str] = [*calls, *fallbacks]
        for order in permutations(steps):
            for step in order:
                if isinstance(step, Call):
                    dispatcher.implement(NAME, step.key, step.kernel)
                else:
                    dispatcher.fall_back(step, Kernel(f"fallback {step}"))
            stale |= {slot.slot for slot in stale_slots(dispatcher)}
            dispatcher.restore(start)
        for key in fallbacks:
            dispatcher.fall_back(key, Kernel(f"fallback {key}"))
        assert stale == set(every_order(dispatcher, [[call] for call in calls]).shortest)
        sensitive += bool(stale)
    assert sensitive > 10


def sets_of(random: Random, universe: Universe, count: int) -> list[list[Call]]:
    """Registration sets of kernels whose functions a live PyTorch tells apart, as far as it has them."""
    sets: list[list[Call]] = []
    while len(sets) < count:
        kinds = random.choices(("impl", "python", "fallthrough"), (4, 4, 2), k=random.randrange(2, 5))
        if random.random() < 0.7:
            kinds[random.randrange(len(kinds))] = "def"
        keys = [random_call(random, universe, 0).key for _ in kinds]
        if all(key is None or key in universe.parseable for key in keys):
            # from Python a catch-all can only be registered with the kernels of PyTorch's own tests
            sets.append(
                [
                    Call(
                        key if kind in ("impl", "def") else key or CATCH_ALL,
                        Kernel(kind, kind, fallthrough=kind == "fallthrough"),
                    )
                    for key, kind in zip(keys, kinds, strict=True)
                ]
            )
    return sets


@pytest.mark.live
def test_what_is_order_sensitive_on_a_live_pytorch() -> None:
    """Thousands of random sets, each in all its orders: some order breaks PyTorch's invariants where we say so."""
    seed = os.environ.get("DISPATCH_CLI_LIVE_SEED") or str(SystemRandom().randrange(1, 1 << 31))
    universe = universes.from_data(live_universe())
    sets = sets_of(Random(seed), universe, 3000)
    orders = [list(permutations(range(len(calls)))) for calls in sets]
    asked = {
        "ids": universe.ids,
        "sets": [
            {"calls": [[call.key, call.kernel.debug] for call in calls], "orders": each}
            for calls, each in zip(sets, orders, strict=True)
        ],
    }
    command = [torch_python(), str(HERE / "live_orders.py")]
    done = in_pytorch.run(command, json.dumps(asked))
    dispatcher, sensitive, stale_today = Dispatcher(universe), 0, 0
    empty = dispatcher.checkpoint()
    for calls, each, holds in zip(sets, orders, json.loads(done.stdout), strict=True):
        where = f"seed {seed}: {[(call.key, call.kernel.debug) for call in calls]}"
        registered = [dispatcher.implement(NAME, call.key, call.kernel) for call in calls]
        sensitive_slots = Orders(dispatcher).sensitive_slots(NAME)
        assert bool(sensitive_slots) is not all(holds), where
        for slot in sensitive_slots:
            order = tuple(registered.index(registration) for registration in slot.order)
            assert not holds[each.index(order)], f"{where}: {slot.live.key} in order {order}"
        assert holds[0] is (dispatcher.stale_entries(NAME) == []), where
        dispatcher.restore(empty)
        sensitive += bool(sensitive_slots)
        stale_today += not holds[0]
    assert 300 < sensitive < 2700, f"seed {seed}"
    assert stale_today > 100, f"seed {seed}"


@pytest.mark.live
def test_what_is_found_of_pytorch_is_so_on_a_live_one() -> None:
    """The order found for each sensitive operator of an embedded state, and the shortest one, break the invariants."""
    source = bases.load("torch-2.15")
    dispatcher = Dispatcher(source.universe, base=source)
    orders, sets = Orders(dispatcher), []
    ids = live_universe()["ids"]
    for name in dispatcher.names():
        for slot in orders.sensitive_slots(OperatorName.parse(name)):
            kinds = {slot.live.decision.source: "def", slot.canonical.decision.source: "impl"}
            for order in (slot.order, slot.shortest):
                calls = [[registration.key, kinds.get(registration.key, "python")] for registration in order]
                if all(key in ids for key, _ in calls):  # other versions may not have them all
                    sets.append({"calls": calls, "orders": [list(range(len(calls)))]})
    command = [torch_python(), str(HERE / "live_orders.py")]
    text = json.dumps({"ids": ids, "sets": sets})
    done = in_pytorch.run(command, text)
    assert json.loads(done.stdout) == [[False]] * len(sets)
    assert len(sets) >= 6
