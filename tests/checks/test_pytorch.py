"""Findings of the checks in PyTorch itself: all, so that no other slips in."""

from __future__ import annotations

import re

import pytest
import yaml

from dispatch_cli.api import load_state
from dispatch_cli.checks.catalogue.no_fake_kernel import CHECK
from dispatch_cli.checks.check import Finding, Severity
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings
from tests.engine.call.fake.judge import live_answers
from tests.engine.live_cases import live_side

OF_PYTORCH = (
    "overridden-kernel,unused-registration,ambiguous-autogradother,math-kernel-displaced,"
    "no-autograd-kernel,sparse-bypass,autograd-only,unreachable-factory,shadowed-fallback,alias-gap,foreign-alias-kernel"
)
UNUSED, WITHOUT, ALONE = "unused-registration warning", "no-autograd-kernel info", "autograd-only"
QUANTIZED = {
    f"aten::quantized_{kind}.{overload}"
    for kind in ("gru", "lstm")
    for overload in ("data", "data_legacy", "input", "input_legacy")
}
PYTHON_KERNELS = {
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
        f"{ALONE} info": {*PYTHON_KERNELS, "aten::miopen_batch_norm"},
    },
    "torch-2.4": {
        UNUSED: {"aten::max_pool2d"},
        WITHOUT: QUANTIZED,
        f"{ALONE} warning": {
            "_c10d_functional_autograd::all_gather_into_tensor",
            "_c10d_functional_autograd::all_to_all_single",
            "_c10d_functional_autograd::reduce_scatter_tensor",
        },
        f"{ALONE} info": {*PYTHON_KERNELS, "aten::rrelu_with_noise", "aten::rrelu_with_noise_"},
    },
}


@pytest.mark.parametrize("base", EXPECTED)
def test_what_is_found_in_pytorch(base: str) -> None:
    state = load_state([], bases=[base])
    operators: dict[str, set[str | None]] = {}
    for finding in findings(state, *state.dispatcher.names(), select=OF_PYTORCH):
        operators.setdefault(f"{finding.check} {finding.severity.value}", set()).add(finding.operator)
    assert operators == EXPECTED[base]


def test_a_base_alone() -> None:
    results = findings(load_state([], bases=["torch-2.15"]), select="overridden-kernel")
    assert results == ()  # no operator is the files' own
    names = ("aten::bmm", "aten::linalg_polar", "aten::linalg_polar.out", "aten::add.Tensor")
    results = findings(load_state([], bases=["torch-2.15"]), *names, select="overridden-kernel")
    assert [(finding.operator, finding.key) for finding in results] == [(name, "CUDA") for name in names[:3]]


PYTHON_RESOLUTION = "python-resolution"


def test_where_python_fails_in_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    reported = [finding for finding in findings(state, *state.dispatcher.names()) if finding.check == PYTHON_RESOLUTION]
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


SIBLINGS = "sibling-disagreement"


def test_gaps_of_pytorch() -> None:
    state = load_state([], bases=["torch-2.15"])
    severities = {
        finding.message: finding.severity
        for finding in findings(state, *state.dispatcher.names())
        if finding.check == SIBLINGS
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


def rows(state_of: StateOf, text: str, *ops: str) -> list[Finding]:
    return [finding for finding in findings(state_of(text), *ops) if finding.check == "order-sensitive"]


def test_a_captured_state_has_an_order_of_its_own(state_of: StateOf) -> None:
    """A finding only about PyTorch is for information, and is not repeated for files over PyTorch."""
    over = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - name: aten::linear\n    dispatch: {{{}}}\n"
    (finding,) = rows(state_of, "dispatch: 1\nextends: [torch-2.15]\noperators: []\n", "aten::linear")
    assert (finding.severity, finding.span, finding.subject) == (
        Severity.INFO,
        None,
        "Autograd CompositeImplicitAutograd NestedTensorCPU",
    )
    assert rows(state_of, over.format("PrivateUse1: mine"), "aten::linear") == []


BATCHING = "unreachable-batching-rule"


BY_CHANCE = (
    "demo::early: the batching rule early_batched at FuncTorchBatchedDecomposition is reached only by chance: a "
    "registration at FuncTorchBatchedDecomposition recomputes no slot in torch-2.4, and the rule is used only because "
    "a later registration recomputed FuncTorchBatched"
)


@pytest.mark.parametrize(("universe", "said"), [("torch-2.4", [BY_CHANCE]), ("torch-2.15", [])])
def test_a_registration_that_recomputes_nothing(universe: str, said: list[str]) -> None:
    state = load_state(["examples/scenarios/07_stale_batching_rule.yaml"], universe=universe)
    results = findings(state)
    assert [finding.message for finding in results if finding.check == BATCHING] == said
    stale = {finding.operator for finding in results if finding.check == "stale-live-table"}
    assert stale == ({"demo::late"} if said else set()), "the one that is not in use is stale, which says enough"


@pytest.mark.parametrize("base", ["torch-2.15", "torch-2.4"])
def test_what_pytorch_has(base: str) -> None:
    state = load_state([], bases=[base])
    reported = [finding for finding in findings(state, *state.dispatcher.names()) if finding.check == BATCHING]
    names = ("is_nonzero", "item", "linalg_slogdet", "masked_select_backward", "one_hot", "silu_backward", "where")
    composite = {(Severity.INFO, f"aten::{name}", "composite") for name in names}
    without_tensors = (Severity.INFO, "aten::result_type.Scalar_Scalar", "")
    assert {(finding.severity, finding.operator, finding.subject) for finding in reported} == {
        *composite,
        without_tensors,
    }
    assert len(reported) == 8


NO_FAKE = "no-fake-kernel"


FAILED = {
    "torch-2.15": {"symm_mem::one_shot_all_reduce_out", "mkldnn::_reorder_linear_weight", "c10d::check_for_nan"},
    "torch-2.4": {"mkldnn::_reorder_linear_weight", "onednn::qconv_prepack"},
}
"""Some that raised UnsupportedOperatorException in live PyTorch 2.15.0 and 2.4.1."""


@pytest.mark.parametrize("base", FAILED)
def test_pytorch_itself(base: str) -> None:
    """As PyTorch's own they are infos; test_pytorch_itself_live calls them."""
    state = load_state([], bases=[base])
    every = findings(state, *state.dispatcher.names(), select=NO_FAKE)
    assert {finding.severity.value for finding in every} == {"info"}
    assert FAILED[base] <= {finding.operator for finding in every}


@pytest.mark.live
def test_pytorch_itself_live() -> None:
    """Every operator that is found fails in a live PyTorch, as far as its arguments can be made."""
    state = live_side().state
    every = findings(state, *state.dispatcher.names(), select=NO_FAKE)
    names = sorted({finding.operator for finding in every if finding.operator is not None})
    answers = [*live_answers(torch_python(), names, ["plain"], "1")]
    makeable = [answer for answer in answers if "not_makeable" not in answer]
    assert len(makeable) > len(names) / 2
    errors = {answer["operator"]: answer.get("own_error") for answer in makeable}
    assert set(errors.values()) <= {"UnsupportedOperatorException", "NotImplementedError"}, errors


@pytest.mark.live
def test_its_examples_in_a_live_pytorch() -> None:
    texts = re.findall(r"(Bad|Good):\n\n```yaml\n(.*?)```", CHECK.documentation, re.DOTALL)
    assert [kind for kind, _ in texts] == ["Bad", "Good"]
    for kind, text in texts:
        library = []
        for operator in yaml.safe_load(text)["operators"]:
            steps = [("autograd" if key == "Autograd" else "kernel", key) for key in operator["dispatch"]]
            steps += [("fake", None)] if "fake" in operator else []
            library.append({"schema": operator["func"], "tags": operator["tags"], "steps": steps, "returns": "tensor"})
        (answer,) = live_answers(torch_python(), ["demo::op"], ["plain"], "1", library)
        expected = ("none", "UnsupportedOperatorException") if kind == "Bad" else ("fake-impl", None)
        assert (answer["path"], answer["own_error"]) == expected
