"""Claims of the checks about skipped kernels, autocast and conjugate bits, on a live PyTorch."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.support.cell import Reason
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.support import SupportContext
from tests import in_pytorch
from tests.capture.support import live_universe, torch_python
from tests.checks.helpers import StateOf, findings

pytestmark = pytest.mark.live

SEED = "DISPATCH_CLI_LIVE_SEED"
OPERATORS = int(os.environ.get("DISPATCH_CLI_CALL_CLAIMS", "120"))
MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
KEYS = (MATH, DEFAULT, "CPU", "AutogradCPU", "Autograd", "AutogradCUDA", "FuncTorchBatched", "SparseCPU")
STALE = "stale-live-table"
"""Calls of an operator that it speaks of go by the order of registrations, and not by what is registered."""
BELOW = ("inference", "below autograd", "custom op")


@pytest.fixture(scope="module")
def operators() -> list[list[str]]:
    """The keys of random operators, a composite kernel more often than not."""
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    print(f"{SEED}={seed}")
    dice = random.Random(seed)
    return [keys_of(dice) for _ in range(OPERATORS)]


def keys_of(dice: random.Random) -> list[str]:
    """The keys of one operator; a quarter have two keys that the checks speak of, so that no seed is without these."""
    picked = dice.choices((*KEYS, MATH, *KEYS[3::3]), k=dice.randint(1, 4))
    if dice.random() < 0.25:
        picked = [MATH, dice.choice(("FuncTorchBatched", "AutogradCPU")), *picked[:2]]
    return dice.sample(keys := [*dict.fromkeys(picked)], len(keys))


@pytest.fixture(scope="module")
def live(operators: list[list[str]]) -> Any:
    """Answers of a live PyTorch."""
    script = Path(__file__).with_name("live_call_claims.py")
    asked = json.dumps(operators)
    done = in_pytorch.run([torch_python(), str(script)], asked)
    return json.loads(done.stdout)


@pytest.fixture
def said(operators: list[list[str]], state_of: StateOf) -> list[list[Finding]]:
    """Findings about each operator, with the universe of the live PyTorch."""
    universe = live_universe()
    entries = [
        {"func": f"demo::op{number}(Tensor x) -> Tensor", "dispatch": {key: f"k_{key}" for key in keys}}
        for number, keys in enumerate(operators)
    ]
    state = state_of(json.dumps({"dispatch": 1, "universe": universe, "operators": entries}))
    per_operator: list[list[Finding]] = [[] for _ in operators]
    for finding in findings(state, select=f"autograd-only,unreachable-batching-rule,{STALE}"):
        assert finding.operator is not None
        per_operator[int(finding.operator.removeprefix("demo::op"))].append(finding)
    return per_operator


def test_what_is_skipped_below_autograd(operators: list[list[str]], live: Any, said: list[list[Finding]]) -> None:
    wrong, skipped = [], 0
    for keys, calls, reported in zip(operators, live["calls"], said, strict=True):
        if any(finding.check == STALE for finding in reported):
            continue
        of_cpu = [finding for finding in reported if finding.check == "autograd-only" and finding.key == "AutogradCPU"]
        named = {finding.details for finding in of_cpu if "custom operators skip" in finding.message}
        happens = calls["plain"] == "AutogradCPU" and all(calls[context] in (MATH, DEFAULT) for context in BELOW)
        happens = happens and "SparseCPU" not in keys  # the kernel may be there to go on to that one
        runs = (
            all(f"run k_{calls[context]} at {calls[context]}, because" in of_cpu[0].message for context in BELOW)
            if named
            else True
        )
        if bool(named) != happens or not runs or calls["no_grad"] != calls["plain"]:
            wrong.append(f"{keys}: {calls}; {[finding.message for finding in of_cpu]}")
        skipped += happens
    assert not wrong
    assert skipped > 0


def test_what_is_not_reached_under_vmap_of_grad(
    operators: list[list[str]], live: Any, said: list[list[Finding]]
) -> None:
    wrong, unreached = [], 0
    for keys, calls, reported in zip(operators, live["calls"], said, strict=True):
        if any(finding.check == STALE for finding in reported):
            continue
        of_rule = [finding for finding in reported if finding.check == "unreachable-batching-rule"]
        named = any("AutogradCPU" in dict(finding.details).get("autograd keys", "").split(", ") for finding in of_rule)
        happens = calls["vmap(grad)"] == calls["vmap(jvp)"] == MATH and calls["vmap"] == "FuncTorchBatched"
        if named != happens or (happens and calls["grad(vmap)"] != "FuncTorchBatched"):
            wrong.append(f"{keys}: {calls}; {[finding.message for finding in of_rule]}")
        unreached += happens
    assert not wrong
    assert unreached > 0


def test_one_hot_of_pytorch(live: Any) -> None:
    assert live["one_hot"]["vmap"] == "none", "it works"
    assert live["one_hot"]["vmap(grad)"].startswith("vmap:"), "it raises"


def test_calls_under_autocast(live: Any, state_of: StateOf) -> None:
    fails = {device for device, (_, under) in live["autocasts"].items() if under != "works"}
    universe = live_universe()
    devices = {device: key for device, key in universe["devices"].items() if device in live["autocasts"]}
    operators = [
        {"func": f"demo::{device}(Tensor x) -> Tensor", "dispatch": {key: "k", f"Autograd{key}": "a"}}
        for device, key in devices.items()
    ]
    state = state_of(json.dumps({"dispatch": 1, "universe": universe, "operators": operators}))
    results = findings(state, select="no-autocast-fallback")
    assert {finding.key for finding in results} == {f"Autocast{devices[device]}" for device in fails}
    assert fails == {"xla", "hpu", "ipu", "privateuseone"}
    names = state.own_operators()
    columns = support_columns(state, names, list(devices), [SupportContext.AUTOCAST])
    by_name = {str(row.operator): row.cells for row in support_rows(state, names, columns)}
    raising = {
        column.device
        for at, column in enumerate(columns)
        if by_name[f"demo::{column.device}"][at].reason is Reason.NO_AUTOCAST
    }
    assert raising == fails
    assert {before for before, _ in live["autocasts"].values()} == {"works"}
    assert live["out of tree"]["otherwise"] == live["out of tree"]["with a fallthrough"] == "works"
    assert "from the 'Autocastnpu' backend" in live["out of tree"]["under autocast"]


def test_fallthroughs_make_results_wrong(live: Any) -> None:
    """A kernel that reads memory: right with PyTorch's fallbacks, wrong and without a warning past them."""
    assert live["bits"] == {
        "Conjugate": [True, 0],
        "Conjugate falls through": [False, 0],
        "Negative": [True, 0],
        "Negative falls through": [False, 0],
        "ZeroTensor": False,
        "ZeroTensor falls through": True,
    }
