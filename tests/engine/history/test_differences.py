"""The difference of two states: every kind of change, and random states against their dumps."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.dispatcher.dispatcher import Checkpoint, Dispatcher
from dispatch_cli.engine.dispatcher.dump import dump_registrations, dump_table
from dispatch_cli.engine.history.difference import (
    ChangeKind,
    DefinitionDifference,
    Difference,
    FallbackDifference,
    HigherOrderDifference,
    KernelDifference,
    LibraryDifference,
    PythonKernelDifference,
    SlotDifference,
    StaleDifference,
)
from dispatch_cli.engine.history.differences import differences
from dispatch_cli.engine.history.reduced import ReducedSource
from dispatch_cli.engine.table.registration import Handle
from dispatch_cli.model.captured import CapturedHeader, CapturedOperator, StateSource
from dispatch_cli.model.declarations import CapturedRegistration
from dispatch_cli.model.kernel import FakeImpl, Kernel, Wrapped
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema import parse_schema
from dispatch_cli.model.span import Span
from tests.engine.dispatcher.random_actions import perform, random_action

NAME, OTHER = OperatorName("demo::op"), OperatorName("demo::other")
ADD = OperatorName.parse("aten::add.Tensor")


def fresh() -> Dispatcher:
    return Dispatcher(universes.load("torch-2.15"))


def shown(found: tuple[Difference, ...] | None) -> list[tuple[Any, ...]]:
    """Each change in short: its type, whom it is about, what happened, and both sides."""
    return [_shown(change) for change in found or ()]


def _shown(one: Difference) -> tuple[Any, ...]:
    match one:
        case LibraryDifference():
            return ("library", one.namespace, one.kind.value)
        case FallbackDifference():
            return ("fallback", one.key, one.kind.value, _text(one.before), _text(one.after))
        case DefinitionDifference():
            return ("operator", str(one.operator), one.kind.value)
        case KernelDifference():
            came, went = ([kernel.debug for kernel in kernels] for kernels in (one.came, one.went))
            return (
                "kernel",
                str(one.operator),
                one.key,
                one.kind.value,
                _text(one.before),
                _text(one.after),
                came,
                went,
            )
        case PythonKernelDifference():
            return ("python", str(one.operator), one.key, one.kind.value)
        case SlotDifference():
            rules = (one.before.rule.value, one.after.rule.value)
            return ("slot", str(one.operator), one.key, rules, _text(one.before.kernel), _text(one.after.kernel))
        case StaleDifference():
            return ("stale", str(one.operator), one.key, one.kind.value)
        case HigherOrderDifference():
            return ("higher order", one.name, one.kind.value)


def _text(kernel: Kernel | None) -> str | None:
    return None if kernel is None else kernel.debug


def test_an_operator_comes_and_goes() -> None:
    dispatcher = fresh()
    empty = dispatcher.checkpoint()
    assert differences(empty, dispatcher) is None
    dispatcher.define(parse_schema(f"{NAME}(Tensor x) -> Tensor"), "here", span=Span("x.yaml", 1, 1))
    dispatcher.implement(NAME, "CPU", Kernel("cpu", span=Span("x.yaml", 2, 1)))
    changes = differences(empty, dispatcher)
    assert shown(changes) == [
        ("operator", "demo::op", "added"),
        ("kernel", "demo::op", "CPU", "added", None, "cpu", ["cpu"], []),
        *(("slot", "demo::op", entry.key, ("missing", entry.rule.value), None, _text(entry.kernel))
          for entry in dispatcher.table(NAME).values() if entry.kernel is not None),
    ]  # fmt: skip
    assert [str(place) for change in changes or () for place in change.places] == [
        "x.yaml:1:1",
        "x.yaml:2:1",
        "x.yaml:2:1",
    ]
    back = differences(dispatcher, empty)
    assert [change.kind for change in back or ()][:2] == [ChangeKind.REMOVED, ChangeKind.REMOVED]
    assert len(back or ()) == len(changes or ())


def test_kernels_are_replaced_and_active_again() -> None:
    dispatcher = fresh()
    dispatcher.implement(NAME, "CPU", Kernel("first"))
    first = dispatcher.checkpoint()
    second = dispatcher.implement(NAME, "CPU", Kernel("second"))
    both = dispatcher.checkpoint()
    third = dispatcher.implement(NAME, "CPU", Kernel("third"))
    dispatcher.drop(second)
    beneath = dispatcher.checkpoint()
    dispatcher.drop(third)

    def kernels(before: Checkpoint, after: Checkpoint | Dispatcher) -> list[tuple[Any, ...]]:
        return [line[3:] for line in shown(differences(before, after)) if line[0] == "kernel"]

    assert kernels(first, both) == [("replaced", "first", "second", ["second"], [])]
    assert kernels(both, first) == [("reactivated", "second", "first", [], ["second"])]
    assert kernels(both, beneath) == [("replaced", "second", "third", ["third"], ["second"])]
    assert kernels(beneath, first) == [("reactivated", "third", "first", [], ["third"])]
    assert differences(first, dispatcher) is None, "what came has gone"


def test_a_kernel_beneath_the_active_one() -> None:
    dispatcher = fresh()
    beneath = dispatcher.implement(NAME, "CPU", Kernel("first"))
    dispatcher.implement(NAME, "CPU", Kernel("second"))
    before = dispatcher.checkpoint()
    dispatcher.drop(beneath)
    assert shown(differences(before, dispatcher)) == [
        ("kernel", "demo::op", "CPU", "beneath", "second", "second", [], ["first"])
    ]


def test_libraries_and_fallbacks_come_first() -> None:
    dispatcher = fresh()
    dispatcher.implement(NAME, "CPU", Kernel("cpu"))
    dispatcher.implement(OTHER, "PrivateUse1", Kernel("own"))
    before = dispatcher.checkpoint()
    dispatcher.open_library("demo", "x.cpp:1")
    dispatcher.fall_back("PrivateUse1", Kernel("fallback"))
    dispatcher.implement(NAME, "CUDA", Kernel("cuda"))
    dispatcher.implement(NAME, "AutogradCUDA", Kernel("backward"))
    expected: list[tuple[Any, ...]] = [
        ("library", "demo", "added"),
        ("fallback", "PrivateUse1", "added", None, "fallback"),
        ("kernel", "demo::op", "CUDA", "added", None, "cuda", ["cuda"], []),
        ("kernel", "demo::op", "AutogradCUDA", "added", None, "backward", ["backward"], []),
        ("slot", "demo::op", "CUDA", ("missing", "kernel"), None, "cuda"),
        ("slot", "demo::op", "PrivateUse1", ("missing", "fallback"), None, "fallback"),
        ("slot", "demo::op", "AutogradCUDA", ("fallback", "kernel"), *_core("AutogradCUDA"), "backward"),
    ]
    assert shown(differences(before, dispatcher)) == expected


def _core(key: str) -> list[str | None]:
    return [_text(fresh().fallbacks[key].kernel)]


def test_what_a_fallback_alone_reaches_is_among_the_answers_when_it_is_asked_for() -> None:
    dispatcher = fresh()
    dispatcher.implement(NAME, "CPU", Kernel("cpu"))
    before = dispatcher.checkpoint()
    dispatcher.fall_back("PrivateUse1", Kernel("fallback"))
    fallback = ("fallback", "PrivateUse1", "added", None, "fallback")
    assert shown(differences(before, dispatcher)) == [fallback]
    assert shown(differences(before, dispatcher, [NAME])) == [
        fallback,
        ("slot", "demo::op", "PrivateUse1", ("missing", "fallback"), None, "fallback"),
    ]


def test_a_fallback_that_came_and_went_can_leave_a_live_table_fresher() -> None:
    """Found although the operator itself was not touched: the states are not equal."""
    dispatcher = fresh()
    dispatcher.implement(NAME, "CompositeImplicitAutograd", Kernel("math"))
    dispatcher.implement(NAME, "CompositeExplicitAutograd", Kernel("default"))
    before = dispatcher.checkpoint()
    for handle in dispatcher.fall_back("AutogradNestedTensor", Kernel("came")):
        dispatcher.drop(handle)
    expected = [("stale", "demo::op", "AutogradNestedTensor", "removed")]
    assert shown(differences(before, dispatcher)) == expected


@pytest.mark.parametrize("seed", range(10))
def test_random_states(seed: int) -> None:
    """None exactly where dumps, stale slots, fallbacks and libraries are equal; and the slots are those of dumps."""
    random, names = Random(seed), ("demo::a", "demo::b", "other::c")
    dispatcher, points = fresh(), []
    points.append((dispatcher.checkpoint(), list[tuple[Handle, ...]]()))
    for _ in range(25):
        point, handles = random.choice(points)
        dispatcher.restore(point)
        handles = list(handles)
        for _ in range(random.randrange(4)):
            came, _ = perform(dispatcher, random_action(random, names, len(handles)), handles)
            handles.append(came)
        points.append((dispatcher.checkpoint(), handles))
    now = dispatcher.checkpoint()
    operators = [OperatorName.parse(name) for name in names]
    for _ in range(60):
        (before, _), (after, _) = random.choices(points, k=2)
        forth, back = differences(before, after, operators), differences(after, before, operators)
        assert dispatcher.checkpoint() is now, "the dispatcher is as it was"
        earlier, other = _content(dispatcher, before, operators), _content(dispatcher, after, operators)
        dispatcher.restore(now)
        assert (forth is None) is (earlier == other)
        assert len(forth or ()) == len(back or ())
        slots = [
            (difference.operator, difference.key)
            for difference in forth or ()
            if isinstance(difference, SlotDifference)
        ]
        assert slots == [key for key in earlier["slots"] if earlier["slots"][key] != other["slots"][key]]
        stale = {
            (difference.operator, difference.key)
            for difference in forth or ()
            if isinstance(difference, StaleDifference)
        }
        assert stale >= set(earlier["stale"]) ^ set(other["stale"])


def _content(dispatcher: Dispatcher, point: Checkpoint, names: Sequence[OperatorName]) -> dict[str, Any]:
    """Visible content of a state, in PyTorch's own texts where it has some."""
    dispatcher.restore(point)
    slots: dict[tuple[OperatorName, str], str | None] = {}
    stale: dict[tuple[OperatorName, str], tuple[Any, ...]] = {}
    for name in sorted(names, key=str):
        lines = dict(line.split(": ", 1) for line in dump_table(dispatcher, name).splitlines())
        slots |= {(name, key): lines.get(key) for key in dispatcher.universe.slots}
        for entry in dispatcher.stale_entries(name) if name in dispatcher else ():
            stale[name, entry.canonical.key] = (_text(entry.live.kernel), entry.live.rule, entry.cause.cause.kernel)
    return {
        "registrations": [dump_registrations(dispatcher, name) for name in names],
        "slots": slots,
        "stale": stale,
        "fallbacks": {key: one.kernel for key, one in dispatcher.fallbacks.items()},
        "libraries": {namespace: hold.debug for namespace, hold in dispatcher.libraries.items()},
    }


class CountingSource:
    """An embedded state that notes which operators are read."""

    def __init__(self) -> None:
        self.base = bases.load("torch-2.15")
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.base, name)

    def operator(self, name: str) -> CapturedOperator:
        self.read.append(name)
        return self.base.operator(name)

    def header(self, name: str) -> CapturedHeader:
        self.read.append(name)
        return self.base.header(name)


def test_untouched_operators_of_a_base_are_not_looked_at() -> None:
    source = CountingSource()
    universe = source.base.universe
    first, other = (Dispatcher(universe, base=source) for _ in range(2))
    before = other.checkpoint()
    other.implement(ADD, "PrivateUse1", Kernel("mine"))
    other.fall_back("PrivateUse1", Kernel("fallback"))
    expected = [
        ("fallback", "PrivateUse1", "added", None, "fallback"),
        ("kernel", "aten::add.Tensor", "PrivateUse1", "added", None, "mine", ["mine"], []),
    ]
    for changes in (differences(first, other), differences(before, other)):
        assert [line for line in shown(changes) if line[0] != "slot"] == expected
        assert ("slot", "aten::add.Tensor", "PrivateUse1") in [line[:3] for line in shown(changes)]
    assert set(source.read) == {str(ADD)}
    assert first.is_untouched(ADD), "an operator is not taken in for a comparison"
    assert differences(first, before) is None


def test_states_have_python_kernels_and_higher_order_operators_too(tmp_path: Any) -> None:
    first, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    first.write_text(
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n"
        "  - func: demo::op(Tensor x) -> Tensor\n    python_dispatch: {CPU: first, CUDA: second}\n"
    )
    other.write_text(
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n"
        "  - func: demo::op(Tensor x) -> Tensor\n    python_dispatch: {CPU: first, Meta: third}\n"
        "higher_order_operators:\n  - {name: mine, dispatch: {CompositeExplicitAutograd: mine_impl}}\n"
    )
    before, after = (load_state([str(path)]) for path in (first, other))
    changes = differences(before, after)
    assert [line for line in shown(changes) if line[0] not in ("operator", "python")] == [
        ("higher order", "mine", "added")
    ]
    assert [line[2:] for line in shown(changes) if line[0] == "python"] == [
        ("CPU", "replaced"),  # it is declared in another file
        ("CUDA", "removed"),
        ("Meta", "added"),
    ]
    assert differences(before, load_state([str(first)])) is None


def test_states_of_different_universes_can_not_be_compared() -> None:
    with pytest.raises(ValueError, match=r"torch-2\.4 and torch-2\.15"):
        differences(Dispatcher(universes.load("torch-2.4")), fresh())


# A captured state without some of its registrations.


Functions = dict[str, tuple[FakeImpl | None, Wrapped | None]]


def functions(source: StateSource, operator: str, looked_at: bool) -> Functions:
    """Facts about the functions of the active kernels, before or after the operator was taken in."""
    name = OperatorName.parse(operator)
    dispatcher = Dispatcher(universes.load("torch-2.15"), base=source)
    if looked_at:
        dispatcher.operator(name)
    return {key: (one.kernel.fake, one.kernel.wraps) for key, one in dispatcher.active(name).items()}


@pytest.mark.parametrize("gone", ["Autograd", "CompositeExplicitAutograd", "Meta"])
def test_the_kernels_that_are_left_stay_what_they_are(gone: str) -> None:
    """`torch.library.custom_op` registers these three for an operator: torch/_library/custom_ops.py."""
    source, operator = bases.load("torch-2.15"), "debug_mode_ops::annotate"
    whole = functions(source, operator, looked_at=True)
    assert sorted(whole) == ["Autograd", "CompositeExplicitAutograd", "Meta"]
    assert all(any(value) for value in whole.values())
    without = ReducedSource(source, [CapturedRegistration(operator, gone)])
    for looked_at in (False, True):
        assert functions(without, operator, looked_at) == {key: one for key, one in whole.items() if key != gone}
