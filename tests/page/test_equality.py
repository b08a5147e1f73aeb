"""Answers of a page's own script equal those of the engine; `tests.page.equality` compares everything."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from dispatch_cli.model.names import OperatorName
from tests.cli.support import ROOT
from tests.page import equality
from tests.page.node import needs_node, script_of
from tests.page.pages import page_of
from tests.page.states import state_of

PAGES: dict[str, tuple[str, ...]] = {
    "a file over a base": ("examples/overlay.yaml",),
    "a state that is incomplete": ("--base", "torch-2.13", "--base", "torch-2.13-mps"),
    "a stale table": ("examples/stale.yaml",),
    "hostile names": ("tests/page/hostile.yaml",),
}
OPERATORS = 6


@needs_node
@pytest.mark.parametrize("arguments", PAGES.values(), ids=[*PAGES])
def test_the_script_of_a_page_says_what_the_engine_says(
    arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = page_of(*arguments)
    assert page.stat().st_size < 1_000_000
    state = state_of(arguments)
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    dice = random.Random(15)
    some = [*state.own_operators(), *dice.sample(names, min(len(names), OPERATORS))][: 2 * OPERATORS]
    slots = state.dispatcher.universe.slots
    asked = [(name, key) for name in some for key in dice.sample(slots, 8)]
    with script_of(page) as script:
        differences = [
            *equality.universes(state, script),
            *equality.search(state, script),
            *equality.tables(state, script, some),
            *equality.registrations(state, script, some),
            *equality.fallbacks(state, script),
            *equality.higher_order(state, script),
            *equality.coverage(state, script, ("PrivateUse1",)),
            *equality.slots(state, script, [*asked, *equality.advised(state, script)]),
        ]
    assert differences == []
