"""Findings of the checks in PyTorch itself: all, so that no other slips in."""

from __future__ import annotations

import re
from functools import cache

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
    *("overridden-kernel", "unused-registration", "ambiguous-autogradother", "math-kernel-displaced", "alias-gap"),
    *("no-autograd-kernel", "sparse-bypass", "autograd-only", "unreachable-factory", "shadowed-fallback"),
    *("foreign-alias-kernel",),
)
NO_FAKE = "no-fake-kernel"
FAILED = {
    "torch-2.15": {"symm_mem::one_shot_all_reduce_out", "mkldnn::_reorder_linear_weight", "c10d::check_for_nan"},
    "torch-2.4": {"mkldnn::_reorder_linear_weight", "onednn::qconv_prepack"},
}
"""Some that raised UnsupportedOperatorException in live PyTorch 2.15.0 and 2.4.1."""
UNUSED, WITHOUT, ALONE = "unused-registration warning", "no-autograd-kernel info", "autograd-only"
QUANTIZED = {
    f"aten::quantized_{kind}.{overload}"
    for kind in ("gru", "lstm")
    for overload in ("data", "data_legacy", "input", "input_legacy")
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
    },
    "torch-2.4": {
        UNUSED: {"aten::max_pool2d"},
        WITHOUT: QUANTIZED,
        f"{ALONE} warning": {
            "_c10d_functional_autograd::all_gather_into_tensor",
            "_c10d_functional_autograd::all_to_all_single",
            "_c10d_functional_autograd::reduce_scatter_tensor",
        },
    },
}


@cache
def of_pytorch(base: str) -> tuple[Finding, ...]:
    """Findings about all operators of an embedded state."""
    state = load_state([], bases=[base])
    return findings(state, *state.dispatcher.names(), select="all")


def of_check(base: str, check: str) -> list[Finding]:
    return [finding for finding in of_pytorch(base) if finding.check == check]


@pytest.mark.parametrize("base", EXPECTED)
def test_what_is_found_in_pytorch(base: str) -> None:
    operators: dict[str, set[str | None]] = {}
    for finding in of_pytorch(base):
        if finding.check in OF_PYTORCH:
            operators.setdefault(f"{finding.check} {finding.severity.value}", set()).add(finding.operator)
    assert operators == EXPECTED[base]
    infos = {"python-resolution", "sibling-disagreement", NO_FAKE}
    assert {finding.severity for finding in of_pytorch(base) if finding.check in infos} == {Severity.INFO}
    assert FAILED[base] <= {finding.operator for finding in of_check(base, NO_FAKE)}


def test_a_base_alone() -> None:
    assert findings(load_state([], bases=["torch-2.15"]), select="overridden-kernel") == ()


def test_where_calls_fail_in_pytorch() -> None:
    """In a live PyTorch 2.13 resolve_key raises for each: no kernel at NestedTensorCPU, ambiguous at AutogradOther."""
    assert {finding.operator: finding.key for finding in of_check("torch-2.15", "python-resolution")} == {
        "aten::randn_like": "NestedTensorCPU",
        "aten::randn_like.generator": "NestedTensorCPU",
        "aten::zeros_like": "NestedTensorCPU",
        "aten::native_batch_norm": "AutogradOther",
        "aten::_upsample_nearest_exact2d": "AutogradOther",
        "aten::_upsample_nearest_exact3d": "AutogradOther",
        "aten::upsample_nearest2d": "AutogradOther",
        "aten::upsample_nearest3d": "AutogradOther",
    }
    messages = [finding.message for finding in of_check("torch-2.15", "sibling-disagreement")]
    # each of these raises "Could not run" in a live PyTorch 2.13, with nested or sparse tensors
    for form in ("in-place form aten::cos_", "functional form aten::fill.Scalar", "in-place form aten::pow_.Scalar"):
        assert any(f"{form} has none there" in message for message in messages)
    assert not any("out= form" in message for message in messages)


def test_a_captured_state_has_an_order_of_its_own(state_of: StateOf) -> None:
    """A finding only about PyTorch is for information, and is not repeated for files over PyTorch."""
    over = "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - name: aten::linear\n    dispatch: {PrivateUse1: mine}\n"
    (finding,) = [row for row in of_check("torch-2.15", "order-sensitive") if row.operator == "aten::linear"]
    assert (finding.severity, finding.span, finding.subject) == (
        Severity.INFO,
        None,
        "Autograd CompositeImplicitAutograd NestedTensorCPU",
    )
    assert findings(state_of(over), "aten::linear", select="order-sensitive") == ()


@pytest.mark.parametrize(("universe", "count"), [("torch-2.4", 1), ("torch-2.15", 0)])
def test_a_registration_that_recomputes_nothing(universe: str, count: int) -> None:
    """The rule that no later registration brings into use is stale."""
    state = load_state(["examples/scenarios/07_stale_batching_rule.yaml"], universe=universe)
    assert [finding.operator for finding in findings(state, select="stale-live-table")] == ["demo::late"] * count


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
