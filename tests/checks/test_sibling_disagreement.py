"""Forms of an operator that are not there for the same backends."""

from __future__ import annotations

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from tests.checks.helpers import findings

ID = "sibling-disagreement"


def test_gaps_of_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    severities = {
        finding.message: finding.severity
        for finding in findings(state, *state.dispatcher.names())
        if finding.check == ID
    }
    assert set(severities.values()) == {Severity.INFO}
    # each of these raises "Could not run" in a live PyTorch 2.13
    nested = "NestedTensorCPU, NestedTensorCUDA, NestedTensorHPU"
    assert f"aten::cos has kernels at {nested}, but its in-place form aten::cos_ has none there" in severities
    assert (
        f"aten::fill_.Scalar has kernels at {nested}, but its functional form aten::fill.Scalar has none there"
        in severities
    )
    sparse = "aten::pow.Tensor_Scalar has kernels at SparseCPU, SparseCUDA, but its in-place form"
    assert f"{sparse} aten::pow_.Scalar has none there" in severities
    assert not [message for message in severities if "out= form" in message]
