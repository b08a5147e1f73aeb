"""Checkpoints: what they bring back is compared with recordings of PyTorch, and with fresh replays."""

from __future__ import annotations

from random import Random

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.table.registration import Handle
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from tests.engine.dispatcher.everything import everything
from tests.engine.dispatcher.recorded_histories import Replay, replays
from tests.support import UNIVERSE_OF

NAME = OperatorName("demo::op")


def seen(replay: Replay) -> tuple[str, str, bool]:
    """Facts that the recordings have of every step."""
    dispatcher, name = replay.dispatcher, replay.name
    return dump_registrations(dispatcher, name), dump_table(dispatcher, name), replay.invariants_hold()


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_recorded_step_can_be_gone_back_to_and_on_from(version: str) -> None:
    """Jumps among all steps of a history, earlier and later ones, again and again; then one step further."""
    random = Random(version)
    steps = 0
    for history, replay in replays(version, "impl_t_t")[::4]:
        points = []
        for number, step in enumerate(history):
            points.append((replay.dispatcher.checkpoint(), dict(replay.libraries)))
            replay.run(number, step)
        for number in random.choices(range(len(history)), k=2 * len(history)):
            checkpoint, libraries = points[number]
            replay.dispatcher.restore(checkpoint)
            replay.libraries = dict(libraries)
            if number:
                after = history[number - 1]["after"]
                assert seen(replay) == (after["dump"], after["table"], after["invariants"]), (replay.namespace, number)
            assert replay.run(number, history[number]) == history[number].get("error")
            after = history[number]["after"]
            assert seen(replay) == (after["dump"], after["table"], after["invariants"]), (replay.namespace, number)
            steps += 1
    assert steps > 600


def test_a_state_over_a_captured_one_is_brought_back_whole() -> None:
    """It is that of a dispatcher to which the same was done, and to which nothing else was."""
    names = ("aten::add.Tensor", "aten::relu", "demo::op")
    used, fresh = (Dispatcher(base.universe, base=base) for base in [bases.load("torch-2.15")] * 2)
    for dispatcher in (used, fresh):
        dispatcher.implement(OperatorName.parse(names[0]), "PrivateUse1", Kernel("mine"))
    before, untouched = everything(used, names), used.checkpoint()
    handle = used.implement(OperatorName.parse(names[1]), "CompositeImplicitAutograd", Kernel("math"))
    used.fall_back("PrivateUse1", Kernel("fallback"))
    used.implement(NAME, "CPU", Kernel("cpu"))
    after = used.checkpoint()
    used.drop(handle)
    assert everything(used, names) != before
    used.restore(untouched)
    assert everything(used, names) == before == everything(fresh, names)
    used.restore(after)
    fresh.implement(OperatorName.parse(names[1]), "CompositeImplicitAutograd", Kernel("math"))
    fresh.fall_back("PrivateUse1", Kernel("fallback"))
    fresh.implement(NAME, "CPU", Kernel("cpu"))
    assert everything(used, names) == everything(fresh, names)


def test_the_cause_is_the_change_after_which_the_tables_differed() -> None:
    """Later changes that PyTorch does not recompute the slot for are not the cause."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    for key, debug in (("CompositeImplicitAutograd", "math"), ("QuantizedCPU", "first"), ("QuantizedCPU", "second")):
        dispatcher.implement(NAME, key, Kernel(debug))
    (entry,) = dispatcher.stale_entries(NAME)
    assert (entry.canonical.key, entry.cause.cause.kernel.debug) == ("AutogradOther", "first")


def test_handles_of_what_a_restored_state_does_not_have_stand_for_nothing() -> None:
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    before = dispatcher.checkpoint()
    kernel = dispatcher.implement(NAME, "CPU", Kernel("kernel"))
    fallbacks = dispatcher.fall_back("PrivateUse1", Kernel("fallback"))
    hold = dispatcher.open_library("demo", "x.cpp:1")
    after = dispatcher.checkpoint()
    dispatcher.restore(before)
    handles: tuple[Handle, ...] = (kernel, *fallbacks, hold)
    for handle in handles:
        dispatcher.drop(handle)
    assert dispatcher.checkpoint() is before, "nothing has happened"
    dispatcher.restore(after)
    dispatcher.drop(kernel)
    assert NAME not in dispatcher


def test_a_checkpoint_of_another_dispatcher_is_an_error() -> None:
    first, other = (Dispatcher(universes.load("torch-2.15")) for _ in range(2))
    with pytest.raises(ValueError, match="of another dispatcher"):
        first.restore(other.checkpoint())


def test_an_operator_that_was_asked_for_before_does_no_harm() -> None:
    """It is of the state that was left; asking it changes neither the present nor a checkpoint."""
    dispatcher = Dispatcher(universes.load("torch-2.15"))
    dispatcher.implement(NAME, "CPU", Kernel("cpu"))
    before = dispatcher.checkpoint()
    dispatcher.fall_back("PrivateUse1", Kernel("fallback"))
    expected = everything(dispatcher, (str(NAME),))
    operator = dispatcher.operator(NAME)
    assert operator.live["PrivateUse1"].kernel == Kernel("fallback")
    after = dispatcher.checkpoint()
    dispatcher.restore(before)
    for key in ("PrivateUse1", "Lazy"):
        dispatcher.fall_back(key, Kernel("another"))
    operator.live.stale()
    dispatcher.restore(after)
    assert everything(dispatcher, (str(NAME),)) == expected
