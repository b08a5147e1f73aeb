"""What is looked for in a thread is what is found at once."""

from __future__ import annotations

from random import Random

import pytest

from dispatch_cli.api import load_state
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
    found = other.look()()
    assert other.take_slots(tried.changes, found) and not other.take_slots((), found)
    assert [str(one) for one in other.slots] == [str(one) for one in tried.slots]
    assert [str(one) for one in other.python_slots] == [str(one) for one in tried.python_slots]
