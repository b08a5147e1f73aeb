"""Backends whose calls fail under autocast."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.checks.check import Severity
from dispatch_cli.engine.call.simulate import simulate
from dispatch_cli.engine.call.trace import EndKind
from dispatch_cli.model.call import Context, TensorSpec
from dispatch_cli.model.names import OperatorName
from tests.checks.helpers import StateOf, findings

ID = "no-autocast-fallback"
HEAD = "dispatch: 1\noperators:\n  - func: demo::op(Tensor x) -> Tensor\n    dispatch: "


def rows(state_of: StateOf, text: str) -> list[tuple[str | None, str, str]]:
    return [(finding.key, finding.severity.value, finding.message) for finding in findings(state_of(text), select=ID)]


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


def test_the_words(state_of: StateOf) -> None:
    raises = 'raises "Could not run" for privateuseone tensors'
    key = "AutocastPrivateUse1"
    own = f"{key} has no fallback: under autocast, demo::op {raises}"
    assert rows(state_of, f"{HEAD}{{PrivateUse1: k, Autograd: a}}\n") == [(key, "info", own)]
    overlay = (
        "dispatch: 1\nextends: [torch-2.15]\noperators:\n  - {name: 'aten::mm', dispatch: {SparsePrivateUse1: k}}\n"
    )
    assert rows(state_of, overlay.replace("Sparse", "")) == [
        (key, "info", f"{key} has no fallback: under autocast, aten::mm {raises}")
    ]
    with_fallback = "dispatch: 1\nfallbacks: {PrivateUse1: npu}\n"
    every = "every operator without a kernel there"
    assert rows(state_of, with_fallback) == [(key, "info", f"{key} has no fallback: under autocast, {every} {raises}")]
    several = "".join(
        f"  - {{func: 'demo::op{number}(Tensor x) -> Tensor', dispatch: {{PrivateUse1: k, Autograd: a}}}}\n"
        for number in range(5)
    )
    assert rows(state_of, f"dispatch: 1\noperators:\n{several}")[0][2] == (
        f"{key} has no fallback: under autocast, demo::op0, demo::op1, demo::op2 … "
        f'raise "Could not run" for privateuseone tensors'
    )


def test_a_kernel_for_one_operator_alone_is_half_an_autocast(state_of: StateOf) -> None:
    text = (
        f"{HEAD}{{PrivateUse1: k, Autograd: a, AutocastPrivateUse1: half}}\n"
        "  - {func: 'demo::other(Tensor x) -> Tensor', dispatch: {PrivateUse1: k, Autograd: a}}\n"
    )
    (finding,) = findings(state_of(text), select=ID)
    assert (finding.severity, finding.details) == (Severity.WARNING, (("operators", "1"),))
    assert "demo::other" in finding.message and "demo::op " not in finding.message
    assert [(note.message, note.span.line) for note in finding.related] == [("1 operator has a kernel there", 4)]


@pytest.mark.parametrize(
    "text",
    [
        f"fallbacks: {{AutocastPrivateUse1: fallthrough}}\n{HEAD}{{PrivateUse1: k, Autograd: a}}\n",
        f"fallbacks: {{AutocastPrivateUse1: to_half}}\n{HEAD}{{PrivateUse1: k, Autograd: a}}\n",
        f"{HEAD}{{PrivateUse1: k, Autograd: a, AutocastPrivateUse1: half}}\n",
        f"core_fallbacks: false\n{HEAD}{{PrivateUse1: k, Autograd: a}}\n",
        f"{HEAD}{{PrivateUse1: k, Autograd: a}}\n".replace("Tensor x", "int size"),
        f"{HEAD}{{CPU: k, CUDA: k, XPU: k, MPS: k, MTIA: k, Autograd: a}}\n",
        f"{HEAD}{{PrivateUse2: k, Autograd: a}}\n",
        "extends: [torch-2.15]\ndispatch: 1\n",
    ],
)
def test_nothing_to_say(text: str, state_of: StateOf) -> None:
    assert findings(state_of(text), select=ID) == ()


def test_what_another_file_registers_counts(state_of: StateOf) -> None:
    state_of(f"{HEAD}{{PrivateUse1: k, Autograd: a}}\n")
    Path("backend.yaml").write_text("dispatch: 1\nfallbacks: {AutocastPrivateUse1: fallthrough}\n", encoding="utf-8")
    assert len(findings(load_state(["x.yaml"]), select=ID)) == 1
    assert findings(load_state(["backend.yaml", "x.yaml"]), select=ID) == ()
