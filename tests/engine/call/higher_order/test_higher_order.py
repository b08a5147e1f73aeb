"""Calls of higher-order operators: recorded ones of random operators, and those of PyTorch's own, one kind each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dispatch_cli import api
from dispatch_cli.engine.call.higher_order.simulate import simulate_higher_order
from dispatch_cli.engine.call.higher_order.trace import Asker, FakeOrigin, HigherOrderCall, Known
from dispatch_cli.engine.call.trace import Does, EndKind, ErrorKind, Reached
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import CallError, Context, TensorSpec
from dispatch_cli.model.span import Span
from tests.engine.call.higher_order.higher_order_cases import declarations, differences
from tests.support import load_recording

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


def test_recorded_calls(tmp_path: Path) -> None:
    """Random operators of live PyTorch 2.15.0: the same rules ran, and the calls ended in the same way."""
    cases = load_recording("2.15.0.higher_order")["calls"]
    file = tmp_path / "operators.json"
    file.write_text(json.dumps(declarations("torch-2.15", cases)), encoding="utf-8")
    different, ends = differences(api.load_state([str(file)]), cases)
    assert different == []
    assert len(cases) > 500
    assert {EndKind.KERNEL, EndKind.HANDLER, *ErrorKind} - ends == {
        *(ErrorKind.NO_TENSORS, ErrorKind.MODES, ErrorKind.FAKE, ErrorKind.NO_LAYOUT, ErrorKind.UNDEFINED),
        *(ErrorKind.IMPL, ErrorKind.AMBIGUOUS, ErrorKind.FALLTHROUGH, ErrorKind.META, ErrorKind.STALE),
        *(ErrorKind.ALIASES, ErrorKind.CRASH, ErrorKind.UNSUPPORTED, ErrorKind.KERNEL),
    }


def test_tensors_that_are_not_there(example: State) -> None:
    """Python passes None as it is; it has no keys."""
    assert [hop.key for hop in call(example, "call_torchbind", ("none", "cpu inference")).hops] == ["CPU"]
    with pytest.raises(CallError, match="no tensor is undefined"):
        call(example, "call_torchbind", ("undefined",))


def test_a_rule_and_its_place(example: State) -> None:
    result = call(example, "call_torchbind", ("cpu requires_grad",))
    first, second = result.hops
    assert (first.key, first.reached, first.does, first.why) == (
        "AutogradCPU",
        Reached.CALL,
        Does.CALLS_ANEW,
        Known.HELPER,
    )
    assert first.impl is not None
    assert first.impl.span == Span(EXAMPLE, 25, 15)
    assert first.needs_gradient is True
    assert first.excludes is not None
    assert "AutogradOther" in set(first.excludes)
    assert (second.key, second.does, second.why) == ("CPU", Does.ENDS, Known.UNKNOWN)
    assert second.entry is not None
    assert second.entry.decision.source == "CompositeExplicitAutograd"
    assert result.deferred == "Autograd not implemented for call_torchbind"
    assert result.end.kind is EndKind.KERNEL


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
        assert result.hops[-1].why is Known.DECLARED


def test_two_fake_modes(captured: State) -> None:
    """Dispatch does not compare them; what tracing says is said."""
    result = call(captured, "call_torchbind", ("cpu", "cpu fake=A"), ("no_grad", "mode=FakeTensorMode=B"))
    assert result.fake_modes is not None
    assert result.fake_modes.first == FakeOrigin("active fake mode", 0, "B", 2)
    assert result.fake_modes.other == FakeOrigin("fake tensor input", 1, "A", 2)
    assert (result.end.kind, result.end.error) == (EndKind.KERNEL, None)
    assert result.hops[-1].impl is not None
    assert result.hops[-1].impl.kernel.endswith(".call_torchbind_fake")
    assert result.fake_modes.error == (
        "fake mode (<FakeTensorMode object B>) from active fake mode 0 doesn't match mode "
        "(<FakeTensorMode object A>) from fake tensor input 1"
    )


@pytest.mark.parametrize("contexts", [(), ("mode=FakeTensorMode=A",)])
def test_the_fake_mode_itself_refuses_tensors_that_are_not_its_own(captured: State, contexts: tuple[str, ...]) -> None:
    """The rule gives the call to the mode; the random operators of a live PyTorch have such rules, too."""
    results = []
    for tensors in (("cpu fake=A", "cpu fake=B"), ("cpu fake=A", "cpu"), ("cpu fake=A", "cpu fake=A")):
        end = call(captured, "with_effects", tensors, contexts).end
        results.append((end.kind, end.handler and end.handler.name, end.error and (end.error.type, end.error.text)))
    convert = (
        "Please convert all Tensors to FakeTensors first or instantiate FakeTensorMode with 'allow_non_fake_inputs'. "
        "Found in with_effects("
    )
    assert results == [
        (EndKind.ERROR, "FakeTensorMode", ("AssertionError", "Mixing fake modes NYI")),
        (EndKind.ERROR, "FakeTensorMode", ("AssertionError", convert)),
        (EndKind.HANDLER, "FakeTensorMode", None),
    ]


def test_tensors_of_modes_without_a_name_have_the_same_mode(captured: State) -> None:
    result = call(captured, "call_torchbind", ("cpu fake", "meta fake"), ("mode=FakeTensorMode",))
    assert result.fake_modes is None
    assert result.end.kind is EndKind.KERNEL


def test_rules_that_give_the_call_to_the_mode(captured: State) -> None:
    """``redirect_to_mode`` of PyTorch's helpers."""
    result = call(captured, "out_dtype", ("cpu fake",), ("mode=FakeTensorMode",))
    assert result.end.kind is EndKind.HANDLER
    assert result.end.handler is not None
    assert (result.end.handler.name, result.end.handler.position) == ("FakeTensorMode", 1)
    assert result.hops[-1].why is Known.HELPER


def test_what_the_universe_does_not_have(captured: State) -> None:
    with pytest.raises(CallError, match="no_such_device"):
        call(captured, "cond", ("no_such_device",))
    with pytest.raises(CallError, match="is not a mode for PreDispatch"):
        call(captured, "cond", ("cpu",), ("pre_dispatch_mode=FakeTensorMode",))


def test_autocast_reaches_the_operators_that_have_a_rule_for_it(captured: State) -> None:
    kernels = {}
    for name in ("flex_attention", "cond"):
        result = call(captured, name, ("cpu",), ("autocast cpu",))
        kernels[name] = [hop.key for hop in result.hops]
    assert kernels == {"flex_attention": ["AutocastCPU"], "cond": ["AutogradCPU", "CPU"]}


@pytest.mark.parametrize(
    ("tensors", "contexts", "error"),
    [
        (("cpu functional",), (), ("AttributeError", "'CppFunctionalizeAPI' object has no attribute 'mode'")),
        (
            ("cpu",),
            ("enable_functionalization",),
            ("AttributeError", "'CppFunctionalizeAPI' object has no attribute 'mode'"),
        ),
        (
            ("cpu functional",),
            ("functionalize",),
            ("AttributeError", "'FunctorchFunctionalizeAPI' object has no attribute 'mode'"),
        ),
    ],
)
def test_a_functionalized_call_torchbind_raises(
    example: State, captured: State, tensors: tuple[str, ...], contexts: tuple[str, ...], error: tuple[str, str]
) -> None:
    """The errors are those of a live PyTorch 2.13; the random calls of its own operators ask it anew."""
    for state in (example, captured):
        result = call(state, "call_torchbind", tensors, contexts)
        assert result.end.error is not None
        assert (result.end.error.kind, result.end.error.type, result.end.error.text) == (ErrorKind.IMPL, *error)
        assert (result.hops[-1].does, result.hops[-1].why) == (Does.RAISES, Known.DECLARED)
