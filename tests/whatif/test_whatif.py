"""Changes that are tried out on a state, and all that they make different."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from dispatch_cli.answers.diff.report import diff_report
from dispatch_cli.answers.diff.rows import DiffChoice
from dispatch_cli.answers.findings.baseline import Entry
from dispatch_cli.api import load_state
from dispatch_cli.checks.all_checks import CHECKS
from dispatch_cli.checks.running.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.rules import MISSING, Rule
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import Refused
from dispatch_cli.engine.table.table import TableEntry, answer
from dispatch_cli.model.changes.change import Addition, RegistrationName, Removal, Reordering
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.findings import FindingsEffect
from dispatch_cli.whatif.whatif import WhatIf
from tests.whatif.random_changes import make_random_changes

ADD = OperatorName.parse("aten::add.Tensor")
FINE = OperatorName.parse("stale::fine")
STALE = "examples/stale.yaml"


def test_a_captured_kernel_is_switched_off() -> None:
    """torchgen registers add.Tensor at CPU, and its structured kernel for all other backends."""
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    tried.apply(Removal(RegistrationName(ADD, "CPU")))
    after = tried.state
    (group,) = diff_report(tried.original, after, ((), ()), DiffChoice(frozenset((str(ADD),)), frozenset())).slots
    assert (group.keys, group.before.rule, group.after.rule) == (("CPU",), Rule.KERNEL, Rule.DEFAULT)
    assert tried.original.dispatcher.table(ADD)["CPU"].rule is Rule.KERNEL
    assert tried.undo() and tried.state is tried.original and tried.findings == FindingsEffect()
    assert tried.redo() and tried.state is after and not tried.redo()


def test_moving_a_registration_makes_a_slot_stale() -> None:
    """PyTorch recomputes no autograd slot for a kernel at CompositeExplicitAutograd."""
    tried = WhatIf(load_state([STALE]))
    tried.apply(
        Reordering(
            RegistrationName(FINE, "CompositeExplicitAutograd"),
            RegistrationName(FINE, "CompositeImplicitAutograd"),
            is_after=True,
        )
    )
    effect = tried.search()()
    assert {finding.check for finding in effect.gone} == {"order-sensitive"}
    assert {finding.check for finding in effect.new} == {"stale-live-table"}
    assert tried.state.dispatcher.stale_slots(FINE) and not tried.original.dispatcher.stale_slots(FINE)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (Addition(ADD, "Nowhere", Kernel("k")), "could not parse dispatch key: Nowhere"),
        (Removal(RegistrationName(ADD, "CPUs")), "no registration of aten::add.Tensor at CPUs; it is registered at "),
    ],
)
def test_what_is_refused_changes_nothing(change: Addition | Removal, text: str) -> None:
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    before = tried.state
    with pytest.raises(Refused, match=text.replace("?", r"\?")):
        tried.apply(change)
    assert tried.state is before and not tried.changes and not tried.undo()


def slots(state: State) -> dict[tuple[OperatorName, str], object]:
    """Entries that calls find in each slot."""
    results: dict[tuple[OperatorName, str], object] = {}
    for text in state.dispatcher.names():
        name = OperatorName.parse(text)
        stale = {} if state.dispatcher.is_untouched(name) else state.dispatcher.stale_slots(name)
        for key, entry in state.dispatcher.table(name).items():
            results[name, key] = answer(stale[key].live if key in stale else entry)
    return results


def findings(state: State, has_files: bool) -> Counter[Entry]:
    view = View(state, map(OperatorName.parse, state.dispatcher.names()), higher_order=state.higher_order_operators)
    view.has_files = has_files
    return Counter(map(Entry.of, run_checks(view, CHECKS, CHECKS).findings))


def check_effect(tried: WhatIf, what: object) -> None:
    """Compare an effect with all slots and findings of both states."""
    effect = tried.search()()
    before, after = slots(tried.original), slots(tried.state)
    missing = answer(TableEntry("", MISSING, None))
    different = {
        place for place in before.keys() & after.keys() if before.get(place, missing) != after.get(place, missing)
    }
    groups = diff_report(tried.original, tried.state, ((), ())).slots
    slots_of = (
        (OperatorName.parse(row.operator), key) for group in groups for row in group.operators for key in group.keys
    )
    assert set(slots_of) == different, what
    has_files = View(tried.original, ()).has_files
    old, new = findings(tried.original, has_files), findings(tried.state, has_files)
    counts = Counter(map(Entry.of, effect.new)), Counter(map(Entry.of, effect.gone))
    assert counts == (new - old, old - new), what


@pytest.mark.parametrize("seed", range(3))
def test_over_an_example(seed: int) -> None:
    dice = Random(seed)
    state = load_state(
        [dice.choice(("examples/stale.yaml", "examples/custom_library.yaml", "examples/ambiguous.yaml"))]
    )
    tried = WhatIf(state)
    make_random_changes(dice, tried, state.own_operators(), 6)
    check_effect(tried, seed)
