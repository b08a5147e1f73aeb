"""Errors of PyTorch's own batching rules; own_kernels.py has the calls that come to a kernel."""

from __future__ import annotations

import pytest

from dispatch_cli import bases
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.model.call import TensorSpec
from dispatch_cli.model.names import OperatorName


@pytest.mark.parametrize(
    ("name", "count", "text"),
    [
        ("aten::sin", 1, "Either your tensor may have escaped from inside a function being vmapped"),
        ("aten::mm", 2, "Either your tensor may have escaped from inside a function being vmapped"),
        (
            "aten::split.Tensor",
            1,
            'maybe_level.has_value() INTERNAL ASSERT FAILED at "LegacyBatchingRegistrations.cpp"',
        ),
        ("aten::nonzero", 1, "vmap: We do not support batching operators that can output dynamic shape. Attempted to "),
    ],
)
def test_a_batched_tensor_of_a_transform_that_is_over(name: str, count: int, text: str) -> None:
    base = bases.load("torch-2.15")
    dispatcher = Dispatcher(base.universe, base=base)
    call = simulate(dispatcher, OperatorName.parse(name), [TensorSpec.parse("cpu batched")] * count)
    assert call.end.error is not None
    assert call.end.error.text.startswith(text)
