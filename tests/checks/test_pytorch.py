"""Findings of the checks of registrations, autograd and reach in PyTorch itself: all, so that no other slips in.

Each kind was tried in PyTorch; what can be tried on any machine is in test_live_autograd_claims.py.
"""

from __future__ import annotations

import pytest

from dispatch_cli.api import load_state
from tests.checks.helpers import findings

CHECKS = (
    "overridden-kernel,unused-registration,ambiguous-autogradother,math-kernel-displaced,"
    "no-autograd-kernel,sparse-bypass,autograd-only,unreachable-factory,shadowed-fallback,alias-gap,foreign-alias-kernel"
)
UNUSED, WITHOUT, ALONE = "unused-registration warning", "no-autograd-kernel info", "autograd-only"
QUANTIZED = {
    f"aten::quantized_{kind}.{overload}"
    for kind in ("gru", "lstm")
    for overload in ("data", "data_legacy", "input", "input_legacy")
}
PYTHON = {
    *("aten::cudnn_batch_norm", "aten::hardshrink", "aten::multi_margin_loss"),
    *("aten::multilabel_margin_loss_forward", "aten::softshrink", "aten::upsample_bicubic2d"),
    *("aten::upsample_bilinear2d",),
}
EXPECTED = {
    "torch-2.15": {
        "overridden-kernel warning": {"aten::bmm", "aten::linalg_polar", "aten::linalg_polar.out"},
        UNUSED: {"aten::chunk", "aten::max_pool2d"},
        WITHOUT: {
            *QUANTIZED,
            "aten::adaptive_avg_pool1d.out",
            "aten::avg_pool1d.out",
            "aten::shallow_copy_data_",
            "aten::upsample_bilinear2d.vec_out",
            "aten::upsample_nearest2d.vec_out",
        },
        f"{ALONE} warning": {"export::access_subclass_inner_tensor"},
        f"{ALONE} info": {*PYTHON, "aten::miopen_batch_norm"},
    },
    "torch-2.4": {
        UNUSED: {"aten::max_pool2d"},
        WITHOUT: QUANTIZED,
        f"{ALONE} warning": {
            "_c10d_functional_autograd::all_gather_into_tensor",
            "_c10d_functional_autograd::all_to_all_single",
            "_c10d_functional_autograd::reduce_scatter_tensor",
        },
        f"{ALONE} info": {*PYTHON, "aten::rrelu_with_noise", "aten::rrelu_with_noise_"},
    },
}


@pytest.mark.parametrize("base", EXPECTED)
def test_what_is_found_in_pytorch(base: str) -> None:
    state = load_state([], bases=[base])
    operators: dict[str, set[str | None]] = {}
    for finding in findings(state, *state.dispatcher.names(), select=CHECKS):
        operators.setdefault(f"{finding.check} {finding.severity.value}", set()).add(finding.operator)
    assert operators == EXPECTED[base]
