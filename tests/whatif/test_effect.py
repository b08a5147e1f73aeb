"""What is said to be different is all that is different."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import MISSING
from dispatch_cli.engine.table.table import TableEntry, answer
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.baseline import Entry
from dispatch_cli.whatif.whatif import WhatIf
from tests.whatif.random_changes import make_random_changes

OF_RUNS = frozenset({"unused-suppression"})
"""Findings that are about a run as a whole."""


def slots(state: State) -> dict[tuple[OperatorName, str], object]:
    found: dict[tuple[OperatorName, str], object] = {}
    for text in state.dispatcher.names():
        name = OperatorName.parse(text)
        stale = {} if state.dispatcher.is_untouched(name) else state.dispatcher.stale_slots(name)
        for key, entry in state.dispatcher.table(name).items():
            live = None if key not in stale else answer(stale[key].live)
            found[name, key] = (answer(entry), live)
    return found


def findings(state: State, has_files: bool) -> Counter[Entry]:
    view = View(state, map(OperatorName.parse, state.dispatcher.names()), higher_order=state.higher_order_operators)
    view.has_files = has_files
    return Counter(map(Entry.of, run_checks(view, CHECKS, CHECKS).findings))


def check_effect(tried: WhatIf, what: object) -> None:
    """Compare an effect with all slots and findings of both states."""
    effect = tried.effect()
    before, after = slots(tried.original), slots(tried.state)
    missing = (answer(TableEntry("", MISSING, None)), None)
    different = {
        place for place in before.keys() | after.keys() if before.get(place, missing) != after.get(place, missing)
    }
    assert {one.place for one in effect.slots} == different, what
    assert all(one.changes for one in effect.slots), what
    has_files = View(tried.original, ()).has_files
    old, new = findings(tried.original, has_files), findings(tried.state, has_files)
    said = Counter(map(Entry.of, effect.new)), Counter(map(Entry.of, effect.gone))
    assert [_of_operators(one) for one in said] == [_of_operators(new - old), _of_operators(old - new)], what


def _of_operators(found: Counter[Entry]) -> Counter[Entry]:
    return Counter({entry: count for entry, count in found.items() if entry.check not in OF_RUNS})


@pytest.mark.parametrize("seed", range(10))
def test_over_an_example(seed: int) -> None:
    dice = Random(seed)
    state = load_state(
        [dice.choice(("examples/stale.yaml", "examples/custom_library.yaml", "examples/ambiguous.yaml"))]
    )
    tried = WhatIf(state)
    make_random_changes(dice, tried, state.own_operators(), 6)
    check_effect(tried, seed)
