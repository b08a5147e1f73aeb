"""Slots at which C++ and Python choose another kernel."""

from __future__ import annotations

from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from tests.checks.helpers import findings

ID = "python-resolution"


def test_where_python_fails_in_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    reported = [finding for finding in findings(state, *state.dispatcher.names()) if finding.check == ID]
    assert {finding.severity for finding in reported} == {Severity.INFO}
    # in a live PyTorch 2.13 resolve_key raises for each: no kernel at NestedTensorCPU, ambiguous at AutogradOther
    assert {finding.operator: finding.key for finding in reported} == {
        "aten::randn_like": "NestedTensorCPU",
        "aten::randn_like.generator": "NestedTensorCPU",
        "aten::zeros_like": "NestedTensorCPU",
        "aten::native_batch_norm": "AutogradOther",
        "aten::_upsample_nearest_exact2d": "AutogradOther",
        "aten::_upsample_nearest_exact3d": "AutogradOther",
        "aten::upsample_nearest2d": "AutogradOther",
        "aten::upsample_nearest3d": "AutogradOther",
    }
