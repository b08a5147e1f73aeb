"""Sparse fake tensors: which composite kernels are followed. What is expected is what a live PyTorch 2.15 did."""

from __future__ import annotations

import pytest

from dispatch_cli.answers.resolve.end_wording import fake_sentence
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.fake_path import FakeOutcome, FakePath
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import End
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName

OPEN = "which are not known here"


@pytest.fixture(scope="module")
def state() -> State:
    return load_state([], bases=["torch-2.15"])


def end_of(state: State, name: str, tensors: int, kind: str = "cpu fake sparse") -> tuple[FakeOutcome, End]:
    """The way FakeTensorMode computes a call with tensors of a kind, and its end."""
    specs = [TensorSpec.parse(kind)] * tensors
    end = simulate(state, OperatorName.parse(name), specs, [Context.parse("mode=FakeTensorMode")]).end
    assert end.fake is not None
    return end.fake, end


@pytest.mark.parametrize(
    ("name", "tensors", "path", "error"),
    [
        ("aten::_foreach_sin_", 2, FakePath.FALLBACK, None),  # sin_ has a kernel at SparseCPU, none at SparseMeta
        ("aten::_foreach_pow.Scalar", 2, FakePath.FALLBACK, None),  # pow.Tensor_Scalar
        ("aten::bitwise_and.Scalar", 1, FakePath.FALLBACK, "NotImplementedError"),  # bitwise_and.Tensor has neither
        ("aten::rsub.Scalar", 1, FakePath.FALLBACK, None),  # sub.Tensor, whose kernel refuses a dense tensor
        ("aten::add.Scalar", 1, FakePath.META, None),  # add.Tensor has a kernel at SparseMeta
        (
            "aten::from_file.out",
            1,
            FakePath.FALLBACK,
            "NotImplementedError",
        ),  # from_file, sparse like the result
        ("aten::isinf", 1, FakePath.FALLBACK, None),  # the kernel at SparseMeta only raises
    ],
)
def test_followed(state: State, name: str, tensors: int, path: FakePath, error: str | None) -> None:
    fake, end = end_of(state, name, tensors)
    assert (fake.path, None if end.error is None else end.error.type) == (path, error)
    assert fake.followed
    assert OPEN not in fake_sentence(fake)


@pytest.mark.parametrize(("name", "tensors"), [("aten::_foreach_abs", 2), ("aten::stack", 2), ("aten::clone", 1)])
def test_not_followed(state: State, name: str, tensors: int) -> None:
    """Live, the first two come to the fallback, and clone does not: the kernels' names do not tell."""
    fake, end = end_of(state, name, tensors)
    assert not fake.followed
    assert end.error is None
    assert OPEN in fake_sentence(fake)
    assert end_of(state, name, tensors, "cpu fake")[0].followed


@pytest.mark.parametrize(
    ("name", "tensors", "missing"),
    [
        ("aten::_foreach_maximum.Scalar_out", 4, "aten::clamp_min"),
        ("aten::bitwise_left_shift_.Tensor_Scalar", 1, "aten::bitwise_left_shift.Tensor_out"),
        ("aten::from_file.out", 1, "aten::from_file"),
    ],
)
def test_what_the_kernel_calls(state: State, name: str, tensors: int, missing: str) -> None:
    error = end_of(state, name, tensors)[1].error
    assert error is not None
    assert error.text.startswith(f"Could not run '{missing}' with arguments from the 'SparseCPU' backend")


def test_a_kernel_that_is_not_implemented(state: State) -> None:
    fake, end = end_of(state, "aten::convolution_overrideable", 3, "cpu fake")
    assert fake.path is FakePath.FALLBACK
    assert end.error is not None
    assert end.error.text.startswith("convolution_overrideable not implemented")
