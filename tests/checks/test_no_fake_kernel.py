"""An operator that fails on fake tensors: what is found, and that a live PyTorch fails there and nowhere else."""

from __future__ import annotations

import re

import pytest
import yaml

from dispatch_cli.api import load_state
from dispatch_cli.checks.catalogue.no_fake_kernel import CHECK
from tests.capture.support import torch_python
from tests.checks.helpers import findings
from tests.engine.call.fake.judge import live_answers
from tests.engine.live_cases import live_side

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
