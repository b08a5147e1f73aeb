"""Every step of every recorded history: dumps, error text and invariants through the bindings are PyTorch's."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.bindings import Bindings
from tests.bindings.histories import differences
from tests.support import UNIVERSE_OF, load_recording


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_every_step_is_as_recorded(version: str) -> None:
    histories = load_recording(f"{version}.histories")["histories"]
    steps, found = differences(Bindings(universes.load(UNIVERSE_OF[version])), histories)
    assert found == []
    assert steps == sum(map(len, histories)) > 1400
    assert any(step["after"]["invariants"] is False for history in histories for step in history)
