"""A captured state without some of its registrations."""

from __future__ import annotations

import pytest

from dispatch_cli import bases, universes
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.history.reduced import ReducedSource
from dispatch_cli.model.captured import StateSource
from dispatch_cli.model.declarations import CapturedRegistration
from dispatch_cli.model.kernel import FakeImpl, Wrapped
from dispatch_cli.model.names import OperatorName

Functions = dict[str, tuple[FakeImpl | None, Wrapped | None]]


def functions(source: StateSource, operator: str, looked_at: bool) -> Functions:
    """What is known of the functions of the active kernels, before or after the operator was taken in."""
    name = OperatorName.parse(operator)
    dispatcher = Dispatcher(universes.load("torch-2.15"), base=source)
    if looked_at:
        dispatcher.operator(name)
    return {key: (one.kernel.fake, one.kernel.wraps) for key, one in dispatcher.active(name).items()}


@pytest.mark.parametrize("gone", ["Autograd", "CompositeExplicitAutograd", "Meta"])
def test_the_kernels_that_are_left_stay_what_they_are(gone: str) -> None:
    """`torch.library.custom_op` registers these three for an operator: torch/_library/custom_ops.py."""
    source, operator = bases.load("torch-2.15"), "debug_mode_ops::annotate"
    whole = functions(source, operator, looked_at=True)
    assert sorted(whole) == ["Autograd", "CompositeExplicitAutograd", "Meta"]
    assert all(any(one) for one in whole.values())
    without = ReducedSource(source, [CapturedRegistration(operator, gone)])
    for looked_at in (False, True):
        assert functions(without, operator, looked_at) == {key: one for key, one in whole.items() if key != gone}
