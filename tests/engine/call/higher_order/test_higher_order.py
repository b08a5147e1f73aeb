"""Calls of PyTorch's own higher-order operators, one of each kind; `higher_order_cases` has random ones."""

from __future__ import annotations

import pytest

from dispatch_cli import api
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import Asker, HigherOrderCall
from dispatch_cli.engine.call.trace import Why
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import CallError, Context, TensorSpec

EXAMPLE = "examples/call_torchbind.yaml"


@pytest.fixture(scope="module")
def captured() -> State:
    return api.load_state([], bases=["torch-2.15"])


@pytest.fixture(scope="module")
def example() -> State:
    return api.load_state([EXAMPLE])


def call(state: State, name: str, tensors: tuple[str, ...] = (), contexts: tuple[str, ...] = ()) -> HigherOrderCall:
    operator = state.higher_order_operator(name)
    assert operator is not None
    specs, entered = map(TensorSpec.parse, tensors), map(Context.parse, contexts)
    return simulate_higher_order(state, operator, tuple(specs), tuple(entered))


def test_tensors_that_are_not_there(example: State) -> None:
    """Python passes None as it is; it has no keys."""
    assert [hop.key for hop in call(example, "call_torchbind", ("none", "cpu inference")).hops] == ["CPU"]
    with pytest.raises(CallError, match="no tensor is undefined"):
        call(example, "call_torchbind", ("undefined",))


def test_modes_are_taken_off_one_after_the_other(example: State) -> None:
    """The tracing mode comes before the fake one, whatever the order in which they were entered."""
    contexts = ("mode=ProxyTorchDispatchMode", "mode=FakeTensorMode")
    for order in (contexts, contexts[::-1]):
        result = call(example, "call_torchbind", ("cpu",), order)
        asked = [question for hop in result.hops for question in hop.asked]
        assert [(question.kind, question.name, question.position) for question in asked] == [
            (Asker.MODE, "ProxyTorchDispatchMode", 1 + order.index(contexts[0])),
            (Asker.MODE, "FakeTensorMode", 1 + order.index(contexts[1])),
        ]
        assert [hop.takes_off for hop in result.hops] == [None, "ProxyTorchDispatchMode", "FakeTensorMode"]
        assert result.hops[-1].why is Why.DECLARED


def test_what_the_universe_does_not_have(captured: State) -> None:
    with pytest.raises(CallError, match="no_such_device"):
        call(captured, "cond", ("no_such_device",))
    with pytest.raises(CallError, match="is not a mode for PreDispatch"):
        call(captured, "cond", ("cpu",), ("pre_dispatch_mode=FakeTensorMode",))
