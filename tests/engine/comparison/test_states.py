"""Properties of comparisons: nothing differs from itself, both directions say the same, slots are what tables say."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

import pytest

from dispatch_cli import api, universes
from dispatch_cli.engine.comparison.sides import ChangeKind, captured_kernel, kernel_view, same_kernel
from dispatch_cli.engine.comparison.slots import CauseKind
from dispatch_cli.engine.comparison.states import StatesChange, compare_states
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.state import State
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema
from dispatch_cli.model.span import Span

BUILT = "registered at /pytorch/build/aten/src/ATen/RegisterCPU_0.cpp:3400"


@cache
def embedded(name: str) -> State:
    return api.load_state((), bases=[name])


@cache
def change(old: str, new: str) -> StatesChange:
    return compare_states(embedded(old), embedded(new))


@pytest.mark.parametrize("name", ["torch-2.4", "torch-2.15"])
def test_nothing_differs_from_itself(name: str) -> None:
    assert change(name, name).is_empty
    taken_in = api.load_state((), bases=[name])
    for operator in ("aten::add.Tensor", "aten::sin", "aten::addmm"):
        assert taken_in.dispatcher.find(OperatorName.parse(operator)) is not None
    assert compare_states(embedded(name), taken_in).is_empty


def state_of(universe: str, kernels: dict[str, Kernel], fallbacks: dict[str, Kernel]) -> State:
    dispatcher = Dispatcher(universes.load(universe))
    dispatcher.define(parse_schema("mylib::f(Tensor a) -> Tensor"), "a debug text")
    for key, kernel in kernels.items():
        dispatcher.implement(OperatorName("mylib::f"), key, kernel)
    for key, kernel in fallbacks.items():
        dispatcher.fall_back(key, kernel)
    return State(dispatcher)


@pytest.mark.parametrize("seed", range(16))
def test_slots_and_their_causes(seed: int) -> None:
    """The slots are those in which the live tables differ; a cause alone leads from the old answer to the new one."""
    chance = random.Random(seed)
    universe = universes.load("torch-2.15")
    aliases = [*universe.aliases]
    keys = [
        *aliases,
        "CPU",
        "CUDA",
        "PrivateUse1",
        "Meta",
        "AutogradCPU",
        "AutogradOther",
        "SparseCPU",
        "NestedTensorCPU",
    ]
    kernels = [Kernel("one"), Kernel("two"), Kernel("one", fallthrough=True)]
    taken = {fallback.key for fallback in universe.fallbacks}
    free = [key for key in ("PrivateUse1", "HPU", "QuantizedCPU", "TESTING_ONLY_GenericMode") if key not in taken]

    def some(pool: list[str]) -> dict[str, Kernel]:
        return {key: chance.choice(kernels) for key in pool if chance.random() < 0.4}

    sides = [(some(keys), some(free)) for _ in range(2)]
    old, new = (state_of("torch-2.15", *side) for side in sides)
    name = OperatorName("mylib::f")
    differ = {key for key in universe.slots if _answer(old.dispatcher, name, key) != _answer(new.dispatcher, name, key)}
    comparison = compare_states(old, new).operators
    assert {key for operator in comparison for slots in operator.slots for key in slots.keys} == differ
    for slots in (slots for operator in comparison for slots in operator.slots):
        assert slots.causes
        order = slots.causes[-1]
        for key in slots.keys:
            stale = [side.dispatcher.stale_slots(name).get(key) for side in (old, new)]
            assert (stale[1] is not None) is (order.kind is CauseKind.LEFT_STALE)
            if order.kind in (CauseKind.LEFT_STALE, CauseKind.WAS_STALE):
                behind = stale[order.kind is CauseKind.LEFT_STALE]
                assert behind is not None
                assert order.key == behind.cause.key
                continue
            changed = [dict(side) for side in sides[0]]
            for cause in slots.causes:
                place, of_slot = (1, key) if cause.kind.value.startswith("fallback") else (0, cause.key)
                if cause.kind in (CauseKind.REMOVED, CauseKind.FALLBACK_REMOVED):
                    del changed[place][of_slot]
                else:
                    assert cause.kind is not CauseKind.UNIVERSE
                    changed[place][of_slot] = sides[1][place][of_slot]
            tried = state_of("torch-2.15", *changed).dispatcher
            decision = tried.table(name)[key].decision
            assert (decision.rule, decision.source) == (slots.after.rule, slots.after.source)


def _answer(dispatcher: Dispatcher, name: OperatorName, key: str) -> tuple[object, ...]:
    stale = dispatcher.stale_slots(name).get(key)
    entry = dispatcher.table(name)[key] if stale is None else stale.live
    kernel = entry.kernel
    return entry.rule, entry.decision.source, kernel and (kernel.debug, kernel.fallthrough)


def test_when_kernels_are_the_same() -> None:
    cpu = captured_kernel(BUILT, False)
    moved_on = captured_kernel("registered at ../build/aten/src/ATen/RegisterCPU.cpp:31", False)
    other = captured_kernel("registered at /pytorch/build/aten/src/ATen/RegisterMeta_0.cpp:1", False)
    python = captured_kernel("registered at /dev/null:241", False)
    named, renamed = (kernel_view(Kernel(name), captured=False) for name in ("f_cpu", "g_cpu"))
    assert same_kernel(cpu, moved_on)
    assert not same_kernel(cpu, other)
    assert same_kernel(cpu, named)
    assert not same_kernel(python, cpu)
    assert same_kernel(python, captured_kernel("registered at torch/_meta_registrations.py:50", False))
    assert same_kernel(python, named)
    assert not same_kernel(named, renamed)
    assert not same_kernel(named, kernel_view(Kernel("f_cpu", fallthrough=True), captured=False))


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        # beneath: the active kernel is the same
        ((("CPU", "a"), ("CPU", "b")), (("CPU", "b"),), {"CPU": (ChangeKind.BENEATH, False)}),
        # one that has only a name is none of those beneath it
        ((("CPU", BUILT),), (("CPU", BUILT), ("CPU", "a")), {"CPU": (ChangeKind.REPLACED, True)}),
    ],
)
def test_kernels_over_others(
    before: tuple[tuple[str, str], ...],
    after: tuple[tuple[str, str], ...],
    changes: dict[str, tuple[ChangeKind, bool]],
) -> None:
    """Keys of registrations that changed, how, and if their slots did."""
    old, new = (state_of("torch-2.15", {}, {}) for _ in range(2))
    for state, registered in ((old, before), (new, after)):
        for key, debug in registered:
            span = None if debug == BUILT else Span("a.yaml", 1, 1)  # of a captured kernel there is none
            state.dispatcher.implement(OperatorName("mylib::f"), key, Kernel(debug, span=span))
    (operator,) = compare_states(old, new).operators
    slots = {key for slot in operator.slots for key in slot.keys}
    assert {row.key: (row.change, row.key in slots) for row in operator.registrations} == changes


@pytest.mark.parametrize("extends", ["torch-2.15", "between.yaml"])
def test_what_takes_the_place_of_a_kernel_that_is_taken_away_is_another_one(
    extends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A declared kernel has only a name, and may be any kernel of another state, but none of the one it is over."""
    changes = (
        "changes:\n"
        "- remove: {operator: aten::mul.Tensor, dispatch_key: SparseCPU, number: 1}\n"
        "- remove: {operator: aten::neg, dispatch_key: SparseCsrCPU, number: 1}\n"
    )
    text = (
        "operators:\n"
        "- {name: aten::mul.Tensor, dispatch: {SparseCPU: mine}}\n"
        "- {name: aten::neg, dispatch: {SparseCsrCPU: mine}}\n"
    )
    places = {("aten::mul.Tensor", "SparseCPU"), ("aten::neg", "SparseCsrCPU")}
    monkeypatch.chdir(tmp_path)
    Path("between.yaml").write_text("dispatch: 1\nextends: torch-2.15\n")
    Path("without.yaml").write_text(f"dispatch: 1\nextends: {extends}\n{changes}")
    Path("mine.yaml").write_text(f"dispatch: 1\nextends: without.yaml\n{text}")
    Path("over.yaml").write_text("dispatch: 1\nextends: mine.yaml\n")
    before, after, over = embedded("torch-2.15"), api.load_state(["mine.yaml"]), api.load_state(["over.yaml"])
    assert compare_states(after, over).is_empty
    for old, new in ((before, after), (after, before), (before, over)):
        comparison = compare_states(old, new)
        changed = {
            (operator.name, registration.key)
            for operator in comparison.operators
            for registration in operator.registrations
        }
        assert changed == places
        slots = {
            (operator.name, key) for operator in comparison.operators for slot in operator.slots for key in slot.keys
        }
        assert slots == places


def test_another_fallback_takes_the_place_of_one_that_is_taken_away(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    changes = "changes: [{remove: {fallback: AutogradCPU, number: 1}}]\n"
    (tmp_path / "without.yaml").write_text(f"dispatch: 1\nextends: torch-2.15\n{changes}")
    file.write_text("dispatch: 1\nextends: without.yaml\nfallbacks: {AutogradCPU: mine}\n")
    comparison = compare_states(embedded("torch-2.15"), api.load_state([str(file)]))
    assert [(fallback.key, fallback.change) for fallback in comparison.fallbacks] == [
        ("AutogradCPU", ChangeKind.REPLACED)
    ]
    assert {key for operator in comparison.operators for slot in operator.slots for key in slot.keys} == {"AutogradCPU"}


def test_what_takes_the_place_of_a_kernel_of_a_file_that_both_have_read_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file says where its kernels are from; what comes in their place has only a name."""
    monkeypatch.chdir(tmp_path)
    defined = "dispatch: 1\noperators:\n- func: demo::op(Tensor x) -> Tensor\n  dispatch: "
    Path("base.yaml").write_text(f"{defined}{{CPU: {{debug: 'registered at /src/RegisterCPU_0.cpp:31'}}}}\n")
    Path("without.yaml").write_text(
        "dispatch: 1\nextends: base.yaml\nchanges: [{remove: {operator: demo::op, dispatch_key: CPU, number: 1}}]\n"
    )
    Path("mine.yaml").write_text(
        "dispatch: 1\nextends: without.yaml\noperators: [{name: demo::op, dispatch: {CPU: mine}}]\n"
    )
    Path("apart.yaml").write_text(f"{defined}{{CPU: mine}}\n")
    base, mine, separate = (api.load_state([f"{name}.yaml"]) for name in ("base", "mine", "apart"))
    (operator,) = compare_states(base, mine).operators
    assert [(registration.key, registration.change) for registration in operator.registrations] == [
        ("CPU", ChangeKind.REPLACED)
    ]
    assert compare_states(base, separate).is_empty
