"""Claims of the checks about calls, autograd and reach, on a live PyTorch, and that they say it of the same ones."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.support.cell import Reason
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.calls.support import SupportContext
from tests import in_pytorch
from tests.capture.support import live_seed, live_universe, torch_python
from tests.checks.helpers import StateOf, findings

pytestmark = pytest.mark.live

OPERATORS = int(os.environ.get("DISPATCH_CLI_CALL_CLAIMS", "120"))
MATH, DEFAULT = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
KEYS = (MATH, DEFAULT, "CPU", "AutogradCPU", "Autograd", "AutogradCUDA", "SparseCPU")
STALE = "stale-live-table"
"""Calls of an operator that it speaks of go by the order of registrations, and not by what is registered."""
BELOW = ("inference", "below autograd", "custom op")


@pytest.fixture(scope="module")
def operators() -> list[list[str]]:
    """The keys of random operators, a composite kernel more often than not."""
    dice = random.Random(live_seed())
    return [keys_of(dice) for _ in range(OPERATORS)]


def keys_of(dice: random.Random) -> list[str]:
    """The keys of one operator; a quarter have two keys that the check speaks of, so that no seed is without these."""
    picked = dice.choices((*KEYS, MATH, "AutogradCPU"), k=dice.randint(1, 4))
    if dice.random() < 0.25:
        picked = [MATH, "AutogradCPU", *picked[:2]]
    return dice.sample(keys := [*dict.fromkeys(picked)], len(keys))


@pytest.fixture(scope="module")
def live(operators: list[list[str]]) -> Any:
    """Answers of a live PyTorch."""
    return in_pytorch.ask(torch_python(), Path(__file__).with_name("live_claims.py"), operators)


@pytest.fixture
def reported(operators: list[list[str]], state_of: StateOf) -> list[list[Finding]]:
    """Findings about each operator, with the universe of the live PyTorch."""
    entries = [
        {"func": f"demo::op{number}(Tensor x) -> Tensor", "dispatch": {key: f"k_{key}" for key in keys}}
        for number, keys in enumerate(operators)
    ]
    state = state_of(json.dumps({"dispatch": 1, "universe": live_universe(), "operators": entries}))
    per_operator: list[list[Finding]] = [[] for _ in operators]
    for finding in findings(state, select=f"autograd-only,{STALE}"):
        assert finding.operator is not None
        per_operator[int(finding.operator.removeprefix("demo::op"))].append(finding)
    return per_operator


def test_random_operators(operators: list[list[str]], live: Any, reported: list[list[Finding]]) -> None:
    """Kernels that are skipped below autograd."""
    wrong, skipped = [], 0
    for keys, calls, rows in zip(operators, live["calls"], reported, strict=True):
        if any(finding.check == STALE for finding in rows):
            continue
        of_cpu = [finding for finding in rows if finding.check == "autograd-only" and finding.key == "AutogradCPU"]
        named = [finding for finding in of_cpu if "custom operators skip" in finding.message]
        happens = calls["plain"] == "AutogradCPU" and all(calls[context] in (MATH, DEFAULT) for context in BELOW)
        happens = happens and "SparseCPU" not in keys  # the kernel may be there to go on to that one
        runs = all(
            f"run k_{calls[context]} at {calls[context]}, because" in named[0].message for context in BELOW if named
        )
        if bool(named) != happens or not runs or calls["no_grad"] != calls["plain"]:
            wrong.append(f"{keys}: {calls}; {[finding.message for finding in of_cpu]}")
        skipped += happens
    assert not wrong
    assert skipped > 0


def test_calls_under_autocast(live: Any, state_of: StateOf) -> None:
    fails = {device for device, (_, under) in live["autocasts"].items() if under != "runs"}
    universe = live_universe()
    devices = {device: key for device, key in universe["devices"].items() if device in live["autocasts"]}
    entries = [
        {"func": f"demo::{device}(Tensor x) -> Tensor", "dispatch": {key: "k", f"Autograd{key}": "a"}}
        for device, key in devices.items()
    ]
    state = state_of(json.dumps({"dispatch": 1, "universe": universe, "operators": entries}))
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
    assert {before for before, _ in live["autocasts"].values()} == {"runs"}
    assert live["out of tree"] == {
        "otherwise": "runs",
        "under autocast": "could not run",
        "with a fallthrough": "runs",
    }


def test_claims(live: Any) -> None:
    """Writes are uncounted without ADInplaceOrView; a library is removed with its only variable."""
    assert live["local libraries"] == {"method": False, "impl": False, "fake": False, "kept": True}
    assert live["writes"] == {"by hand": 0, "counted": 1}
    assert live["derivatives"] == {
        "a kernel beside a composite one": "warns",
        "of other operators": [[0.25], "warns"],
    }
    lacking = {name for name, outcome in live["gaps"].items() if outcome == "could not run"}
    assert lacking == {"cos_", "fill", "pow_"}
    # PyTorch 2.4 has neither the operators, nor a way to register a fallback from Python
    in_pytorch = {
        "avg_pool2d.out": "refuses gradients",
        "avg_pool1d.out": "runs",
        "export": "could not run",
        "convolution under a fallback": "not implemented",
        "max_pool2d's kernel at Autograd": "runs",
    }
    assert live["in PyTorch"] == {name: in_pytorch[name] for name in live["in PyTorch"]}


REACH = {
    "mtia": (MATH, ("MTIA", MATH), {"sparse-bypass": "warning"}),
    "hip": (MATH, ("HIP", MATH), {"sparse-bypass": "warning"}),
    "xpu": ("XPU", ("XPU", MATH), {"math-kernel-displaced": "warning"}),
    "nested": ("could not run", ("NestedTensorCPU", MATH), {"math-kernel-displaced": "error"}),
    "hip, with a sparse kernel": (
        "ambiguous",
        ("SparseCPU", "HIP", MATH),
        {"ambiguous-autogradother": "error", "sparse-bypass": "warning"},
    ),
}
"""Tensor → the outcome of the call, the keys of the operator, and the findings about it."""


@pytest.mark.parametrize("tensor", REACH)
def test_reach(tensor: str, live: Any, state_of: StateOf) -> None:
    outcome, keys, expected = REACH[tensor]
    assert live["reach"][tensor] == outcome
    entry = {"func": "demo::op(Tensor x) -> Tensor", "dispatch": dict.fromkeys(keys, "k")}
    results = findings(state_of(json.dumps({"dispatch": 1, "operators": [entry]})), select="DC2")
    assert {finding.check: finding.severity.value for finding in results} == expected
