"""Tensors that a universe does not have; recorded calls compare the key sets of those that it has."""

from __future__ import annotations

import pytest

from dispatch_cli import universes
from dispatch_cli.engine.call.tensors import TensorMaker
from dispatch_cli.model.call import CallError, TensorSpec

WRONG = {
    "cudda": (
        "the universe torch-2.15 has no device 'cudda' (it has cpu, cuda, ipu, xpu, hip, ve, fpga, maia, xla, lazy, "
        "vulkan, mps, meta, hpu, mtia, privateuseone)",
        "did you mean cuda?",
    ),
    "cuda mkldnn": ("the universe torch-2.15 has no mkldnn tensors on 'cuda'", None),
    "maia sparse": ("the universe torch-2.15 has no sparse tensors on 'maia'", None),
    "cpu nested quantized": ("a tensor can be only one of sparse, mkldnn, jagged, quantized and nested", None),
}


@pytest.mark.parametrize("text", WRONG)
def test_what_a_universe_does_not_have(text: str) -> None:
    with pytest.raises(CallError) as caught:
        TensorMaker(universes.load("torch-2.15")).make(TensorSpec.parse(text))
    assert (caught.value.message, caught.value.hint) == WRONG[text]
