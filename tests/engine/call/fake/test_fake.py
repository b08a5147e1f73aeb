"""FakeTensorMode: expected is what live PyTorch 2.4, 2.13 and 2.15 did."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.answers.resolve.step_wording import fake_sentence
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import End, FakeOutcome, FakePath
from dispatch_cli.engine.state import State
from dispatch_cli.model.calls.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.cli.support import call
from tests.engine.call.fake.judge import judge, live_answers
from tests.engine.live_cases import LiveCase, Side

NEWER = "Expected all tensors to be on the same device, but found at least two devices, {} and {}!"
ADD = "aten::add.Tensor"


def end_of(operator: str, *tensors: str, state: State | None = None) -> tuple[FakeOutcome, End]:
    """The way FakeTensorMode computes a call, and its end."""
    specs = [TensorSpec.parse(text) for text in tensors]
    state = state or load_state([], bases=["torch-2.15"])
    end = simulate(state, OperatorName.parse(operator), specs, [Context.parse("mode=FakeTensorMode")]).end
    assert end.fake is not None
    return end.fake, end


@pytest.mark.parametrize(
    ("operator", "tensors", "works"),
    [
        (ADD, ("cpu", "cuda"), True),
        (ADD, ("cuda", "meta"), False),
        ("aten::nextafter", ("cpu", "cuda"), False),
    ],
)
def test_cpu_tensors_without_dimensions(operator: str, tensors: tuple[str, ...], works: bool) -> None:
    assert end_of(operator, *(f"{text} fake" for text in tensors))[0].zero_dim_works is works


def test_places_of_lists_on_two_devices() -> None:
    name = "aten::_foreach_add.List"
    assert end_of(name, "cpu fake", "cuda fake", "cpu fake", "cuda fake")[1].error is None
    error = end_of(name, "cpu fake", "cpu fake", "cpu fake", "cuda fake")[1].error
    assert error is not None
    assert (error.type, error.text) == ("FakeTensorDeviceMismatchError", NEWER.format("cpu", "cuda:0"))


def test_a_fake_implementation_takes_both(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        'dispatch: 1\nuniverse: torch-2.15\noperators:\n  - func: "m::op(Tensor x, Tensor y) -> Tensor"\n    fake: f\n'
        '  - func: "m::meta(Tensor x, Tensor y) -> Tensor"\n    dispatch: {Meta: {kernel: k, python: true}}\n'
    )
    tensors = ("--tensor", "cpu fake", "--tensor", "cuda fake")
    assert call("resolve", "m::op", str(file), *tensors).code == 0
    result = call("resolve", "m::meta", str(file), *tensors)
    assert result.code == 1
    assert NEWER.format("cpu", "cuda:0") in result.out
    assert "with 0-dimensional CPU tensors" in result.out


@pytest.mark.parametrize(("name", "tensors"), [("aten::_foreach_abs", 2), ("aten::clone", 1)])
def test_kernels_of_sparse_tensors_that_are_not_followed(name: str, tensors: int) -> None:
    """Live, the first two come to the fallback, and clone does not: the kernels' names do not tell."""
    fake, end = end_of(name, *["cpu fake sparse"] * tensors)
    assert not fake.followed
    assert end.error is None
    assert "which are not known here" in fake_sentence(fake)
    assert end_of(name, *["cpu fake"] * tensors)[0].followed


@pytest.mark.parametrize(
    ("name", "tensors", "called"),
    [
        ("aten::bitwise_and.Scalar", ("cpu fake sparse",), "aten::bitwise_and.Tensor"),
        ("aten::empty_quantized.out", ("cpu fake", "cpu fake sparse"), "aten::empty_quantized"),
    ],
)
def test_the_operator_that_a_generated_kernel_calls(name: str, tensors: tuple[str, ...], called: str) -> None:
    """It has no kernel for the number that became a tensor, and none for the layout of the result."""
    error = end_of(name, *tensors)[1].error
    assert error is not None
    assert error.text.startswith(f"Could not run '{called}' with arguments from the 'SparseCPU' backend.")


@pytest.mark.parametrize("universe", ["torch-2.4", "torch-2.15"])
@pytest.mark.parametrize("other", ["CPU", "CompositeExplicitAutograd"])
def test_a_composite_fallthrough(tmp_path: Path, universe: str, other: str) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(
        f"dispatch: 1\nuniverse: {universe}\noperators:\n  - func: m::op(Tensor x) -> Tensor\n"
        f"    dispatch: {{CompositeImplicitAutograd: fallthrough, {other}: k}}\n"
    )
    fake, end = end_of("m::op", "cpu fake", state=load_state([str(file)]))
    assert fake.path is FakePath.COMPOSITE
    assert end.error is not None
    assert end.error.type == "RuntimeError"
    assert "fallthrough_kernel was executed but it should have been short-circuited" in end.error.text


# Calls with fake tensors: FakeTensorMode does what the engine says.


NOT_KNOWN = (
    *("aten::slice_scatter", "quantized::mul_scalar.Tensor", "quantized::mul.Scalar"),
    *("aten::_fft_r2c", "aten::_amp_foreach_non_finite_check_and_unscale"),
)
"""Operators of the recordings with kernels written by hand, of which the engine does not know what they call."""


def state_of(operators: list[dict[str, Any]], universe: Any) -> State:
    """The operators of a library that `live_calls.py` defines. Fake implementations have the name of their operator."""
    entries: list[dict[str, Any]] = []
    for operator in operators:
        namespace, _, rest = operator["schema"].partition("::")
        short = rest.partition("(")[0]
        block = {"kind": "FRAGMENT", "namespace": namespace}
        entries.append({**block, "define": [{"func": rest, "tags": operator["tags"]}]})
        for kind, key in operator["steps"]:
            kernel = {"kernel": f"{short}_{key}", "python": True, "dispatch_key": key}
            if kind == "autograd":
                kernel["redispatches"] = "below-autograd"
            entries.append(
                {**block, **({"fake": {short: f"{short}_fake"}} if kind == "fake" else {"impl": {short: kernel}})}
            )
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "library.json"
        file.write_text(json.dumps({"dispatch": 1, "universe": universe, "libraries": entries}), encoding="utf-8")
        return load_state([str(file)])


def _answers(python: str, asked: Any) -> Any:
    return [[*live_answers(python, **plan)] for plan in asked]


def _wrong(side: Side, asked: Any, answers: Any) -> list[str]:
    """The calls of a kernel that is written by hand are not known, so a few of PyTorch's own may differ, live."""
    library = asked[1]["library"]
    own, ours = [*judge(side.state, answers[0])], [*judge(state_of(library, side.data), answers[1])]
    judged = [verdict for verdict in own if verdict.judged]
    refused = {each.answer["own_text"].split(" ")[0] for each in judged if each.path == "refused"}
    assert len(judged) > len(asked[0]["operators"]) * len(asked[0]["kinds"]) / 2
    assert {"Mixing", "Please", "Can't"} <= refused
    assert sum(verdict.left_open for verdict in own) <= 0.05 * len(judged)
    assert len(ours) == len(library) * len(asked[1]["kinds"])
    few = [verdict for verdict in judged if not verdict.agrees and verdict.answer["operator"] not in NOT_KNOWN]
    few_allowed = 0 if side.name == side.data else round(0.02 * len(judged))
    wrong = [verdict for verdict in ours if not verdict.agrees]
    return [f"{each.answer}: {each.why}" for each in [*few[few_allowed:], *wrong]]


CASE = LiveCase(_answers, _wrong)
