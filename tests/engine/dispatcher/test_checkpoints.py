"""Checkpoints: what they bring back is compared with recordings of PyTorch, and with fresh replays."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.engine.dispatcher.dispatcher import Checkpoint, Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.table.registration import Handle
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from tests.engine.dispatcher.random_actions import Action, everything, perform, random_action
from tests.engine.dispatcher.recorded_histories import Replay, replays
from tests.support import UNIVERSE_OF

NAME = OperatorName("demo::op")
FRESH = ("demo::a", "demo::b", "other::c")
CAPTURED = ("aten::add.Tensor", "aten::relu", "aten::mul.Tensor", "demo::a")


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


class Point(NamedTuple):
    """A state on the way: its checkpoint, what led to it, and what came of that."""

    checkpoint: Checkpoint
    actions: tuple[Action, ...]
    errors: tuple[str | None, ...]
    handles: list[tuple[Handle, ...]]


@pytest.mark.slow
@pytest.mark.parametrize(("base", "names"), [(None, FRESH), ("torch-2.15", CAPTURED)])
@pytest.mark.parametrize("seed", range(12))
def test_every_state_is_that_of_a_fresh_replay(base: str | None, names: tuple[str, ...], seed: int) -> None:
    """A random tree of states, walked at random: each is what its actions alone lead to, and so is what follows."""
    random = Random(f"{base} {seed}")
    dispatcher = _dispatcher(base)
    points = [Point(dispatcher.checkpoint(), (), (), [])]
    for _ in range(40):
        point = random.choice(points)
        dispatcher.restore(point.checkpoint)
        actions, errors, handles = list(point.actions), list(point.errors), list(point.handles)
        for _ in range(random.randrange(1, 5)):
            action = random_action(random, names, len(actions))
            came, error = perform(dispatcher, action, handles)
            actions, errors, handles = [*actions, action], [*errors, error], [*handles, came]
        points.append(Point(dispatcher.checkpoint(), tuple(actions), tuple(errors), handles))
        if len(points) > 8:
            points.remove(random.choice(points))
    for point in random.choices(points, k=12):
        dispatcher.restore(point.checkpoint)
        fresh, handles = _dispatcher(base), []
        for action, error in zip(point.actions, point.errors, strict=True):
            came, again = perform(fresh, action, handles)
            assert again == error
            handles.append(came)
        assert everything(dispatcher, names) == everything(fresh, names)


def _dispatcher(base: str | None) -> Dispatcher:
    if base is None:
        return Dispatcher(universes.load("torch-2.15"))
    source = bases.load(base)
    return Dispatcher(source.universe, base=source)


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
