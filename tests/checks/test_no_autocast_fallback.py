"""Backends whose calls fail under autocast."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import StateOf, findings

ID = "no-autocast-fallback"
HEAD = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: "


@pytest.mark.parametrize("universe", ["torch-2.15", "torch-2.4"])
def test_it_speaks_of_the_backends_whose_calls_fail(universe: str, state_of: StateOf) -> None:
    """An operator with a kernel at one backend, called under that device's autocast."""
    devices = universes.load(universe).devices
    for device, key in devices.items():
        if f"Autocast{key}" not in universes.load(universe).slot:
            continue
        state = state_of(f"universe: {universe}\n{HEAD}{{{key}: k, Autograd: a}}\n")
        call = simulate(
            state, OperatorName("demo::op"), (TensorSpec.parse(device),), (Context.parse(f"autocast {device}"),)
        )
        fails = call.end.kind is EndKind.ERROR
        results = findings(state, select=ID)
        assert [finding.key for finding in results] == ([f"Autocast{key}"] if fails else []), device
        assert fails == (device in ("privateuseone", "xla", "hpu", "ipu"))


def test_what_another_file_registers_counts(state_of: StateOf) -> None:
    state_of(f"{HEAD}{{PrivateUse1: k, Autograd: a}}\n")
    Path("backend.yaml").write_text("dispatch: 1\nfallbacks: {AutocastPrivateUse1: fallthrough}\n", encoding="utf-8")
    assert len(findings(load_state(["x.yaml"]), select=ID)) == 1
    assert findings(load_state(["backend.yaml", "x.yaml"]), select=ID) == ()
