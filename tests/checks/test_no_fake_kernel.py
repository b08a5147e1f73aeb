"""An operator that fails on fake tensors: what is found, and that a live PyTorch fails there and nowhere else."""

from __future__ import annotations

import re

import pytest
import yaml

from dispatch_cli.api import load_state
from dispatch_cli.checks.catalogue.no_fake_kernel import CHECK
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings
from tests.engine.call.fake.__main__ import captured
from tests.engine.call.fake.judge import live_answers

NO_FAKE = "no-fake-kernel"
HEAD = "dispatch: 1\noperators:\n"
TAGGED = "tags: [pt2_compliant_tag], "


def rows(state_of: StateOf, *operators: str) -> list[tuple[str, str | None]]:
    """Severity and operator of each finding about operators, written in YAML."""
    text = HEAD + "".join(f"  - {{{operator}}}\n" for operator in operators)
    return [(finding.severity.value, finding.operator) for finding in findings(state_of(text), select=NO_FAKE)]


def op(name: str, rest: str, schema: str = "(Tensor x) -> Tensor") -> str:
    return f'func: "mylib::{name}{schema}", {rest}'


def test_a_library_that_is_not_for_tracing_has_one_finding(state_of: StateOf) -> None:
    operators = [op("a", "dispatch: {CPU: f}"), op("b", "dispatch: {CPU: f}"), op("c", "dispatch: {CUDA: f}")]
    assert rows(state_of, *operators) == [("info", None)]


@pytest.mark.parametrize(
    "other",
    ["dispatch: {CPU: f, Meta: g}", "dispatch: {CPU: f}, fake: g", TAGGED + "dispatch: {CPU: f}, fake: g"],
)
def test_a_library_with_something_for_tracing(state_of: StateOf, other: str) -> None:
    assert rows(state_of, op("a", "dispatch: {CPU: f}"), op("b", other)) == [("warning", "mylib::a")]


@pytest.mark.parametrize(("working", "severity"), [(5, "info"), (10, "warning")])
def test_two_operators_are_warnings_where_nearly_all_work(state_of: StateOf, working: int, severity: str) -> None:
    others = [op(f"other{number}", "dispatch: {CPU: f}, fake: g") for number in range(working)]
    failing = [op(name, "dispatch: {CPU: f}") for name in "ab"]
    assert rows(state_of, *failing, *others) == [(severity, "mylib::a"), (severity, "mylib::b")]


@pytest.mark.parametrize(
    "works",
    [
        op("a", f"{TAGGED}dispatch: {{CompositeImplicitAutograd: f}}"),
        op("a", f"{TAGGED}dispatch: {{CPU: f, CompositeImplicitAutograd: g}}"),
        op("a", f"{TAGGED}dispatch: {{CompositeExplicitAutograd: f}}"),
        op("a", f"{TAGGED}dispatch: {{CPU: f}}", "(Tensor(a!) x) -> ()"),
        op("a", "tags: [pt2_compliant_tag, data_dependent_output], dispatch: {CPU: f}"),
        op("a", TAGGED + "dispatch: {}"),
        op("a", TAGGED + "dispatch: {CPU: f}").replace("mylib", "vision"),
        op("a", TAGGED + "dispatch: {CPU: f, Autograd: f}"),
    ],
)
def test_what_works_or_cannot(state_of: StateOf, works: str) -> None:
    assert rows(state_of, works) == []


def test_an_operator_of_custom_op(state_of: StateOf) -> None:
    """``custom_op`` gives the tag by itself, so it says nothing about the author's wishes."""
    custom = op("a", TAGGED + "dispatch: {CompositeExplicitAutograd: f}, fake: {missing: true}")
    assert rows(state_of, custom) == [("info", "mylib::a")]
    assert rows(state_of, custom, op("b", "dispatch: {CPU: f}, fake: g")) == [("warning", "mylib::a")]


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
    state, _ = captured(torch_python())
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
