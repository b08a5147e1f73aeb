"""Factories, and composite operators that fall through, in FakeTensorMode; expected is what live PyTorch did."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.fake_path import FakePath
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import End
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName

PLAIN, DEVICE, NUMBER = (
    "(int n) -> Tensor",
    "(int n, *, Device? device=None) -> Tensor",
    "(int n, *, int device=0) -> Tensor",
)
EXPLICIT = "CompositeExplicitAutograd"


def end_of(folder: Path, universe: str, schema: str, dispatch: str, *tensors: str) -> End:
    """The end of a call in FakeTensorMode."""
    file = folder / "a.yaml"
    file.write_text(
        f'dispatch: 1\nuniverse: {universe}\noperators:\n  - func: "m::op{schema}"\n    dispatch: {{{dispatch}}}\n'
    )
    specs = [TensorSpec.parse(text) for text in tensors]
    return simulate(load_state([str(file)]), OperatorName("m::op"), specs, [Context.parse("mode=FakeTensorMode")]).end


@pytest.mark.parametrize(
    ("universe", "schema", "key", "error"),
    [
        ("torch-2.15", PLAIN, EXPLICIT, None),
        ("torch-2.15", PLAIN, "Meta", None),
        ("torch-2.15", PLAIN, "CPU", "NotImplementedError"),
        ("torch-2.15", DEVICE, EXPLICIT, None),
        ("torch-2.15", DEVICE, "CPU", "NotImplementedError"),
        ("torch-2.15", NUMBER, "Meta", None),
        ("torch-2.15", NUMBER, "CPU", "NotImplementedError"),
        ("torch-2.4", PLAIN, EXPLICIT, "RuntimeError"),
        ("torch-2.4", PLAIN, "Meta", "RuntimeError"),
        ("torch-2.4", PLAIN, "CPU", "RuntimeError"),
        ("torch-2.4", DEVICE, "CPU", "NotImplementedError"),
    ],
)
def test_factories(tmp_path: Path, universe: str, schema: str, key: str, error: str | None) -> None:
    end = end_of(tmp_path, universe, schema, f"{key}: {{kernel: k, python: true}}")
    assert end.fake is not None
    assert end.fake.path is FakePath.IMPLEMENTATION
    assert (None if end.error is None else end.error.type) == error


@pytest.mark.parametrize("universe", ["torch-2.4", "torch-2.15"])
@pytest.mark.parametrize("other", ["CPU", EXPLICIT])
def test_a_composite_fallthrough(tmp_path: Path, universe: str, other: str) -> None:
    dispatch = f"CompositeImplicitAutograd: fallthrough, {other}: k"
    end = end_of(tmp_path, universe, "(Tensor x) -> Tensor", dispatch, "cpu fake")
    assert end.fake is not None
    assert end.fake.path is FakePath.COMPOSITE
    assert end.error is not None
    assert end.error.type == "RuntimeError"
    assert "fallthrough_kernel was executed but it should have been short-circuited" in end.error.text
