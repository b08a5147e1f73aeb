"""A slot that depends on a kernel which is not known is not known; every completion is tried."""

from __future__ import annotations

import random
from itertools import chain, combinations

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.bases import overlay
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule, choose, decide
from dispatch_cli.engine.table.layout import layout_of
from dispatch_cli.engine.table.table import plan
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.schema.parser import parse_schema

MPS = ("MPS", "QuantizedMPS", "SparseMPS", "SparseCsrMPS", "NestedTensorMPS")


def _patterns(name: str) -> set[int]:
    """The sets of keys with a kernel: those of a state, and random ones."""
    base = bases.load(name)
    bit = layout_of(base.universe).registered_bit
    masks = {sum(bit[key] for key in base.header(operator).kernels) for operator in base.names[::12]}
    dice = random.Random(14)
    likely = [*base.universe.aliases, *MPS, "AutogradMPS", "AutogradOther", "AutogradNestedTensor", "CPU", "SparseCPU"]
    for _ in range(80):
        masks.add(sum(bit[key] for key in dice.sample(likely, dice.randint(0, 5))))
    return masks


@pytest.mark.parametrize("name", ["torch-2.15", "torch-2.4"])
def test_a_slot_is_known_exactly_when_every_completion_gives_the_same(name: str) -> None:
    universe = universes.load(name)
    layout = layout_of(universe, MPS)
    bits = [layout.registered_bit[key] for key in MPS]
    completions = [sum(few) for few in chain.from_iterable(combinations(bits, count) for count in range(6))]
    unknown = 0
    for registered in _patterns(name):
        decisions = plan(layout, registered, 0).decisions
        for slot, key in enumerate(universe.slots):
            if slot not in layout.open_slots:
                assert decisions[slot].rule is not Rule.NOT_KNOWN
                continue
            # rule 5 differs in Python's table
            for candidates in (layout.candidates[slot], layout.python.candidates[slot]):
                known = choose(candidates, registered, has_fallback=False)
                answers = {
                    choose(candidates, registered | more, fallback)[:3]
                    for more in completions
                    for fallback in ((False, True) if key in MPS else (False,))
                }
                decision = decide(candidates, registered, has_fallback=False)
                assert (decision.rule is Rule.NOT_KNOWN) is (len(answers) > 1)
                assert (decision.otherwise or decision) == known
                unknown += decision.rule is Rule.NOT_KNOWN
                closed = decide(candidates, registered | layout.closed, has_fallback=True)
                assert closed == choose(candidates, registered, has_fallback=True)
    assert unknown > 300


def test_only_slots_that_depend_on_the_overlays_keys_change() -> None:
    base, extra = bases.load("torch-2.15"), overlay.load("torch-2.15-mps")
    state, laid = Dispatcher(base.universe, base=base), _over("torch-2.15")
    dependent = {base.universe.slots[slot] for slot in laid.layout.open_slots}
    assert dependent == {*MPS, "AutogradMPS", "AutogradOther", "AutogradNestedTensor"}
    for text in base.names[::9]:
        name = OperatorName.parse(text)
        added = extra.kernels.get(text, {})
        for was, became in zip(state.table(name).values(), laid.table(name).values(), strict=True):
            if became.key in added:
                assert became.rule is Rule.KERNEL
                assert became.kernel is not None
                assert became.kernel.debug == added[became.key]
            elif became.key in MPS:
                assert became.rule is Rule.NOT_KNOWN
                assert became.otherwise is not None
                assert (became.otherwise.rule, became.otherwise.kernel) == (was.rule, was.kernel)
            elif became.key not in dependent or not added:
                assert became.rule is Rule.NOT_KNOWN or (was.rule, was.kernel) == (became.rule, became.kernel)
                assert became.rule is not Rule.NOT_KNOWN or (became.key in dependent and was.rule is Rule.MATH)


def test_kernels_of_the_user_are_certain() -> None:
    laid = _over("torch-2.15")
    svd = OperatorName.parse("aten::linalg_svd")
    assert laid.table(svd)["MPS"].rule is Rule.NOT_KNOWN
    laid.implement(svd, "MPS", Kernel("mine"))
    assert laid.table(svd)["MPS"].kernel == Kernel("mine")
    assert laid.table(svd)["AutogradMPS"].rule is Rule.FALLBACK
    assert laid.operator(svd).live["AutogradMPS"].rule is Rule.FALLBACK


def test_of_an_operator_that_pytorch_does_not_have_only_the_fallback_is_not_known() -> None:
    laid = _over("torch-2.15")
    laid.define(parse_schema("mine::f(Tensor x) -> Tensor"), "here")
    name = OperatorName.parse("mine::f")
    laid.implement(name, "CPU", Kernel("cpu"))
    assert {key for key, entry in laid.table(name).items() if entry.rule is Rule.NOT_KNOWN} == {*MPS}
    laid.implement(name, "CompositeImplicitAutograd", Kernel("math"))
    assert laid.table(name)["MPS"].rule is Rule.MATH
    assert not any(entry.rule is Rule.NOT_KNOWN for entry in laid.table(name).values())


def _over(name: str) -> Dispatcher:
    base = overlay.combined((name, f"{name}-mps"))
    return Dispatcher(base.universe, base=base)
