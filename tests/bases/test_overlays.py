"""The embedded overlays: what torchgen registers, for each state; what PyTorch registers by hand is not known."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import yaml

from dispatch_cli import bases
from dispatch_cli.bases import overlay
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from tests.capture.support import live_universe, torch_python

SCRIPT = Path(__file__).with_name("torchgen_registrations.py")


BY_HAND = (
    *("aten::embedding_renorm_", "aten::linalg_svd", "aten::linalg_svd.U", "aten::col2im"),
    *("aten::_slow_conv2d_forward", "aten::upsample_nearest3d.vec"),
)
"""All kernels that PyTorch 2.6 registers at a key of MPS by hand (``aten/src/ATen/mps/MPSFallback.mm``)."""


def test_each_state_has_one_for_mps() -> None:
    assert bases.overlay_names() == tuple(f"{name}-mps" for name in bases.names())
    assert sum(overlay.load(name).description.bytes for name in bases.overlay_names()) < 150_000


@pytest.mark.parametrize("name", ["torch-2.4", "torch-2.9", "torch-2.15"])
def test_its_kernels_are_of_operators_of_the_state_at_its_keys(name: str) -> None:
    laid, state = overlay.load(f"{name}-mps"), bases.load(name)
    universe = state.universe
    assert set(laid.incomplete) == {
        key for key, (kind, of) in universe.runtime_parts.items() if of == "MPS" and kind != "AutogradFunctionality"
    }
    keys = {key for operator in state.names for key in laid.kernels.get(operator, {})}
    assert "MPS" in keys
    assert keys <= set(laid.incomplete)
    description = laid.description
    assert description.kernels == sum(len(laid.kernels.get(operator, {})) for operator in state.names)
    assert description.operators == sum(bool(laid.kernels.get(operator, {})) for operator in state.names)


def test_what_pytorch_registers_by_hand_is_not_known() -> None:
    base = overlay.combined(("torch-2.6", "torch-2.6-mps"))
    dispatcher = Dispatcher(base.universe, base=base)
    for name in map(OperatorName.parse, BY_HAND):
        table = dispatcher.table(name)
        assert table["MPS"].rule is Rule.NOT_KNOWN
        assert table["AutogradMPS"].rule in (Rule.NOT_KNOWN, Rule.AUTOGRAD)


def test_autocast_and_autograd_of_mps_are_those_of_the_state() -> None:
    """Their files are in every build: ``autocast_mode.cpp``, ``VariableFallbackKernel.cpp`` and ``VariableType``."""
    base, state = overlay.combined(("torch-2.6", "torch-2.6-mps")), bases.load("torch-2.6")
    assert not {"AutogradMPS", "AutocastMPS"} & set(base.incomplete)
    assert sum("AutocastMPS" in base.header(name).kernels for name in base.names) == 99
    assert all("AutogradMPS" not in base.header(name).kernels for name in state.names)


@pytest.mark.live
def test_it_is_what_torchgen_registers() -> None:
    python = torch_python()
    name = ".".join(live_universe(python)["name"].split(".")[:2])
    laid = overlay.load(f"{name}-mps")
    with TemporaryDirectory() as folder:
        # torchgen needs PyYAML, which PyTorch's Python may lack; nothing else of ours is lent
        Path(folder, "yaml").symlink_to(Path(yaml.__file__).parent)
        command = [python, str(SCRIPT), *laid.incomplete]
        answer = subprocess.check_output(command, text=True, env={**os.environ, "PYTHONPATH": folder})
    theirs = {(key, operator) for key, operators in json.loads(answer).items() for operator in operators}
    ours = {(key, operator) for operator in bases.load(laid.over).names for key in laid.kernels.get(operator, {})}
    assert ours == theirs
    assert len(ours) > 600
