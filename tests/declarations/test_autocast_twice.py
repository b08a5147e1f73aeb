"""``torch.library.register_autocast``: a second time for a device, which PyTorch 2.13 takes; arguments by keyword."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.options import Options

FILE = """\
dispatch: 1
universe: torch-2.15
operators:
  - {func: "m::op(Tensor x) -> Tensor", kernels: {cpu: f}, autocast: {xpu: float16}}
  - {name: "m::op", autocast: {xpu: bfloat16}}
"""


def test_the_newer_one_is_active(tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(FILE)
    kernel = load_state([str(file)]).dispatcher.table(OperatorName("m::op"))["AutocastXPU"].kernel
    assert kernel is not None
    assert kernel.wraps is not None
    assert kernel.wraps.dtype == "bfloat16"


def test_the_python_dispatcher_has_one(tmp_path: Path) -> None:
    """``OpOverload.py_kernels`` of a live PyTorch 2.13 has the key once."""
    file = tmp_path / "a.yaml"
    file.write_text(FILE)
    kernels = load_state([str(file)]).python_kernels(OperatorName("m::op"))
    assert [(one.dispatch_key, one.span and one.span.line) for one in kernels] == [("AutocastXPU", 5)]


KEYWORDS = """\
dispatch: 1
universe: torch-2.15
operators:
  - custom_op: "m::kw(Tensor x, *, Device? device=None, ScalarType? dtype=None, bool m=False) -> Tensor"
    kernel: f
    autocast: {cpu: bfloat16}
"""


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (Options(), None),
        (Options(device="cpu"), "['device']"),
        (Options(device="cpu", dtype="float32"), "['device', 'dtype']"),
    ],
)
def test_options_by_keyword(tmp_path: Path, options: Options, named: str | None) -> None:
    """What a live PyTorch 2.13 said of the same operator; an argument that is its default does not count."""
    file = tmp_path / "a.yaml"
    file.write_text(KEYWORDS)
    contexts = [Context.parse("autocast cpu")]
    tensors = [TensorSpec.parse("cpu")]
    error = simulate(load_state([str(file)]), OperatorName("m::kw"), tensors, contexts, options=options).end.error
    said = None if error is None else error.text
    assert said == (None if named is None else f"Custom ops do not support kwargs yet, got {named}")
