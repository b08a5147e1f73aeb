"""``torch.library.register_autocast`` a second time for a device; PyTorch 2.13 takes it, and runs the newer one."""

from __future__ import annotations

from pathlib import Path

from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName

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
