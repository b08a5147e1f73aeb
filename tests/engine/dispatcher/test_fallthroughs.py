"""The slots that dispatch skips, which operators with equal registrations share, against the live table."""

from __future__ import annotations

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from tests.support import UNIVERSE_OF


def slot_by_slot(dispatcher: Dispatcher, name: OperatorName) -> int:
    live = dispatcher.operator(name).live
    return sum(live[key].is_fallthrough << slot for slot, key in enumerate(dispatcher.universe.slots))


@pytest.mark.parametrize("version", UNIVERSE_OF)
def test_of_pytorch(version: str) -> None:
    base = bases.load(UNIVERSE_OF[version])
    dispatcher = Dispatcher(base.universe, base=base)
    names = [OperatorName.parse(name) for name in list(dispatcher.names())[::25]]
    fallthroughs = {dispatcher.operator(name).live.fallthroughs() for name in names}
    assert len(fallthroughs) > 3
    for name in names:
        assert dispatcher.operator(name).live.fallthroughs() == slot_by_slot(dispatcher, name), name


# A registration knows which kernel it takes the place of, and where PyTorch would warn of it.


NAME = OperatorName("demo::op")
FIRST, SECOND, THIRD = (Kernel(text) for text in ("first", "second", "third"))


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher(universes.load("torch-2.15"))


@pytest.mark.parametrize(("key", "warns"), [("CPU", True), (None, True), ("Meta", False), ("MTIA", False)])
def test_pytorch_is_silent_at_meta_and_mtia(dispatcher: Dispatcher, key: str | None, warns: bool) -> None:
    assert not dispatcher.implement(NAME, key, FIRST).warns
    assert dispatcher.implement(NAME, key, SECOND).warns is warns
