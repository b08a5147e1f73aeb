"""FakeTensorMode: expected is what live PyTorch 2.4, 2.13 and 2.15 did; `fake_cases` asks it about many calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.answers.resolve.end_wording import fake_sentence
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.fake_path import FakeOutcome, FakePath
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import End
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.cli.support import call

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
    ("operator", "tensors", "devices"),
    [
        (ADD, ("cuda", "cuda:0"), None),
        (ADD, ("xla", "vulkan"), ("xla", "vulkan")),
        ("aten::_foreach_add.List", ("cpu", "cuda", "cpu", "cuda"), None),
        ("aten::_foreach_add.List", ("cpu", "cpu", "cpu", "cuda"), ("cpu", "cuda:0")),
    ],
)
def test_two_devices(operator: str, tensors: tuple[str, ...], devices: tuple[str, str] | None) -> None:
    error = end_of(operator, *(f"{text} fake" for text in tensors))[1].error
    if devices is None:
        assert error is None
    else:
        assert error is not None
        assert (error.type, error.text) == ("FakeTensorDeviceMismatchError", NEWER.format(*devices))


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
