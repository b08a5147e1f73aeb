"""A registration knows which kernel it takes the place of, and where PyTorch would warn of it."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName

NAME = OperatorName("demo::op")
FIRST, SECOND, THIRD = (Kernel(text) for text in ("first", "second", "third"))


@pytest.fixture
def dispatcher() -> Dispatcher:
    return Dispatcher(universes.load("torch-2.15"))


def test_the_previous_kernel_is_the_one_that_was_active(dispatcher: Dispatcher) -> None:
    assert dispatcher.implement(NAME, "CPU", FIRST).overrides is None
    second = dispatcher.implement(NAME, "CPU", SECOND)
    assert second.overrides is FIRST
    assert dispatcher.implement(NAME, "CUDA", THIRD).overrides is None
    dispatcher.drop(second)
    assert dispatcher.implement(NAME, "CPU", THIRD).overrides is FIRST


@pytest.mark.parametrize(
    ("key", "warns"), [("CPU", True), ("Autograd", True), (None, True), ("Meta", False), ("MTIA", False)]
)
def test_pytorch_is_silent_at_meta_and_mtia(dispatcher: Dispatcher, key: str | None, warns: bool) -> None:
    assert not dispatcher.implement(NAME, key, FIRST).warns
    assert dispatcher.implement(NAME, key, SECOND).warns is warns


def test_the_catch_all_overrides_what_stands_at_compositeimplicitautograd(dispatcher: Dispatcher) -> None:
    dispatcher.implement(NAME, "CompositeImplicitAutograd", FIRST)
    assert dispatcher.implement(NAME, None, SECOND).overrides is FIRST
