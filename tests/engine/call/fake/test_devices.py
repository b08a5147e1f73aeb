"""Fake tensors of different devices; expected is what live PyTorch 2.4.1, 2.13 and 2.15 did."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import End
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.cli.support import call

NEWER = "Expected all tensors to be on the same device, but found at least two devices, {} and {}!"
OLDER = "Unhandled FakeTensor Device Propagation for {}, found two different devices {}, {}"
ADD, MM, FOREACH = "aten::add.Tensor", "aten::mm", "aten::_foreach_add.List"


def end_of(operator: str, *tensors: str, state: str = "torch-2.15") -> End:
    """The end of a call in FakeTensorMode."""
    specs = [TensorSpec.parse(f"{text} fake") for text in tensors]
    contexts = [Context.parse("mode=FakeTensorMode")]
    return simulate(load_state([], bases=[state]), OperatorName.parse(operator), specs, contexts).end


@pytest.mark.parametrize(
    ("operator", "tensors", "devices"),
    [
        (ADD, ("cpu", "cuda"), ("cpu", "cuda:0")),
        (ADD, ("cuda:1", "cuda"), ("cuda:1", "cuda:0")),
        (ADD, ("cuda", "cuda:0"), None),
        (ADD, ("xla", "vulkan"), ("xla", "vulkan")),
        (ADD, ("mps", "meta"), ("mps:0", "meta")),
        ("aten::add_.Tensor", ("cpu", "meta"), None),
        ("aten::add_.Tensor", ("cpu", "cuda"), ("cpu", "cuda:0")),
        (MM, ("cpu", "cuda"), ("cpu", "cuda:0")),
        ("aten::copy_", ("cpu", "cuda"), None),
        (FOREACH, ("cpu", "cuda", "cpu", "cuda"), None),
        (FOREACH, ("cpu", "cpu", "cpu", "cuda"), ("cpu", "cuda:0")),
        ("aten::_foreach_add_.List", ("cpu", "cuda"), None),
        ("aten::_foreach_copy", ("cpu", "cuda"), None),
        ("aten::_foreach_copy", ("cuda", "meta"), ("cuda:0", "meta")),
    ],
)
def test_two_devices(operator: str, tensors: tuple[str, ...], devices: tuple[str, str] | None) -> None:
    error = end_of(operator, *tensors).error
    if devices is None:
        assert error is None
    else:
        assert error is not None
        assert (error.type, error.text) == ("FakeTensorDeviceMismatchError", NEWER.format(*devices))


def test_an_older_pytorch() -> None:
    error = end_of(MM, "mps", "cuda", state="torch-2.4").error
    assert error is not None
    assert (error.type, error.text) == ("RuntimeError", OLDER.format("aten.mm.default", "mps", "cuda:0"))


@pytest.mark.parametrize(
    ("operator", "tensors", "works"),
    [
        (ADD, ("cpu", "cuda"), True),
        (ADD, ("cuda", "cpu"), True),
        (ADD, ("cuda", "meta"), False),
        ("aten::nextafter", ("cpu", "cuda"), False),
        (ADD, ("xla", "vulkan"), False),
    ],
)
def test_cpu_tensors_without_dimensions(operator: str, tensors: tuple[str, ...], works: bool) -> None:
    fake = end_of(operator, *tensors).fake
    assert fake is not None
    assert fake.zero_dim_works is works


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


@pytest.mark.parametrize(("tensors", "path"), [(("cpu", "cpu"), "meta"), (("cpu", "cpu", "cpu"), "fallback")])
def test_an_argument_that_a_meta_function_refuses(tensors: tuple[str, ...], path: str) -> None:
    """``segment_reduce`` with its third tensor, the indices."""
    fake = end_of("aten::segment_reduce", *tensors).fake
    assert fake is not None
    assert fake.path.value == path
