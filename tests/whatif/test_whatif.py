"""Changes that are tried out on a state."""

from __future__ import annotations

from random import Random

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.dispatcher.refusal import Refused
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import answer
from dispatch_cli.model.change import Addition, RegistrationName, Removal, Reordering
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.whatif import WhatIf
from tests.whatif.random_changes import make_random_changes


@pytest.mark.parametrize("seed", range(6))
def test_slots_with_the_changes_that_made_them(seed: int) -> None:
    dice = Random(seed)
    state = load_state(["examples/stale.yaml", "examples/out_of_tree_backend.yaml"])
    tried = WhatIf(state)
    while len(tried.changes) < 3:
        make_random_changes(dice, tried, state.own_operators(), 8)
    if seed % 2 and tried.can_undo:  # a version of which the one before is known
        assert tried.slots is not None
        make_random_changes(dice, tried, state.own_operators(), 2)
    other = WhatIf(state)
    other.apply(*tried.changes)
    assert other.changes == tried.changes
    current = other.look()()
    assert other.take_slots(tried.changes, current) and not other.take_slots((), current)
    assert [str(slot) for slot in other.slots] == [str(slot) for slot in tried.slots]
    assert [str(slot) for slot in other.python_slots] == [str(slot) for slot in tried.python_slots]


ADD = OperatorName.parse("aten::add.Tensor")
FINE = OperatorName.parse("stale::fine")
STALE = "examples/stale.yaml"


def test_a_captured_kernel_is_switched_off() -> None:
    """torchgen registers add.Tensor at CPU, and its structured kernel for all other backends."""
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    effect = tried.make(Removal(RegistrationName(ADD, "CPU")))
    assert [(slot.key, slot.before.rule, slot.after.rule, slot.changes) for slot in effect.slots] == [
        ("CPU", Rule.KERNEL, Rule.DEFAULT, (1,))
    ]
    assert tried.original.dispatcher.table(ADD)["CPU"].rule is Rule.KERNEL
    assert tried.undo() and tried.state is tried.original and tried.effect().is_empty
    assert tried.redo() and tried.effect() is effect and not tried.redo()


def test_each_slot_says_which_change_did_it() -> None:
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    tried.make(Removal(RegistrationName(ADD, "CPU")))
    effect = tried.make(Addition(ADD, "CPU", Kernel("mine", "mine")), Addition(ADD, "CUDA", Kernel("mine", "mine")))
    assert {slot.key: slot.changes for slot in effect.slots} == {"CPU": (1, 2), "CUDA": (3,)}
    tried.take_back(1)
    assert {slot.key: slot.changes for slot in tried.effect().slots} == {"CPU": (1,), "CUDA": (2,)}


def test_a_fallback_that_is_switched_off_concerns_every_operator() -> None:
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    effect = tried.make(Removal(RegistrationName(None, "AutogradXLA")))
    expected = [
        name
        for name in tried.original.dispatcher.names()
        if tried.original.dispatcher.table(OperatorName.parse(name))["AutogradXLA"].rule is Rule.FALLBACK
    ]
    assert [str(slot.operator) for slot in effect.slots] == expected
    assert {(slot.key, slot.after.rule) for slot in effect.slots} == {("AutogradXLA", Rule.MISSING)}


def test_moving_a_registration_makes_a_slot_stale() -> None:
    """PyTorch recomputes no autograd slot for a kernel at CompositeExplicitAutograd."""
    tried = WhatIf(load_state([STALE]))
    effect = tried.make(
        Reordering(
            RegistrationName(FINE, "CompositeExplicitAutograd"),
            after=RegistrationName(FINE, "CompositeImplicitAutograd"),
        )
    )
    assert {finding.check for finding in effect.gone} == {"order-sensitive"}
    assert {finding.check for finding in effect.new} == {"stale-live-table"}
    assert all(answer(slot.before) == answer(slot.after) and slot.live_after is not None for slot in effect.slots)
    assert effect.slots


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Addition(ADD, "Nowhere", Kernel("k")), "could not parse dispatch key: Nowhere"),
        (
            Addition(None, "AutogradCPU", Kernel("k")),
            "Tried to register multiple backend fallbacks for the same dispatch",
        ),
        (Removal(RegistrationName(ADD, "CPUs")), "no registration of aten::add.Tensor at CPUs; did you mean CPU?"),
    ],
)
def test_what_is_refused_changes_nothing(change: Addition | Removal, text: str) -> None:
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    before = tried.state
    with pytest.raises(Refused, match=text.replace("?", r"\?")):
        tried.make(change)
    assert tried.state is before and not tried.changes and not tried.undo()
