"""Claims of the checks of higher-order operators, on a live PyTorch: random operators, and the examples."""

from __future__ import annotations

import json
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.higher_order import missing_autograd
from dispatch_cli.engine.call.thread import INFRA_MODES
from dispatch_cli.engine.history.state import State
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings
from tests.checks.test_documentation import examples

pytestmark = pytest.mark.live

CASES = 70
SEED = "DISPATCH_CLI_LIVE_SEED"
NO_RULE = re.compile(r"There was no rule registered for HigherOrderOperator|Current active mode .* not registered")
COMPOSITE = "CompositeImplicitAutograd"
Case = dict[str, Any]


def random_case(choose: random.Random) -> Case:
    """Sections of the declaration of a random operator."""
    kernels = choose.sample(("CPU", "CompositeExplicitAutograd", COMPOSITE), choose.choice((0, 1, 1, 1, 2)))
    autograd = choose.choice(("none", "none", "helper", "own", "alias", "fallthrough"))
    return {
        "dispatch": [*kernels, *{"own": ["AutogradCPU"], "alias": ["Autograd"]}.get(autograd, [])],
        "fallthrough": ["AutogradCPU"] if autograd == "fallthrough" else [],
        "autograd": autograd == "helper",
        "modes": choose.sample(INFRA_MODES[:2], choose.randint(0, 2)),
        "functionalize": choose.random() < 0.5,
        "mutates": choose.random() < 0.4,
        "side_effect": choose.random() < 0.3,
    }


def declaration(name: str, case: Case) -> dict[str, Any]:
    """The same operator as a declaration."""
    kernels: dict[str, Any] = {
        key: {"kernel": f"{key}_impl", "redispatches": key.startswith("Autograd")} for key in case["dispatch"]
    }
    kernels |= dict.fromkeys(case["fallthrough"], "fallthrough")
    declared: dict[str, Any] = {"name": name, "side_effect": case["side_effect"], "mutates": case["mutates"]}
    if kernels:
        declared["dispatch"] = kernels
    if case["autograd"]:
        # registered as it is, and not by py_autograd_impl
        declared.setdefault("dispatch", {})["Autograd"] = {"kernel": "autograd_not_implemented", "deferred_error": True}
    if case["modes"]:
        declared["modes"] = dict.fromkeys(case["modes"], "k")
    if case["functionalize"]:
        declared["functionalize"] = "f"
    return declared


def ask(cases: dict[str, Case]) -> dict[str, Any]:
    script = Path(__file__).with_name("live_higher_order.py")
    command = [torch_python(), str(script)]
    done = in_pytorch.run(command, json.dumps(cases))
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def happens(outcomes: dict[str, Any], case: Case) -> dict[str, Any]:
    """Claims that the checks should make, derived from the outcomes of live calls."""
    fails = outcomes["plain"].endswith("(resolved from DispatchKey.AutogradCPU)")
    if not any(key in case["dispatch"] for key in ("CPU", "CompositeExplicitAutograd", COMPOSITE)):
        return {"autograd": False, "modes": set(), "above": False}
    modes = set()
    for mode in INFRA_MODES:
        first, below = outcomes[mode]
        asked = below if "could not find kernel" in first else first
        if NO_RULE.search(asked):
            modes.add(mode)
    if NO_RULE.search(outcomes["above autograd"]):
        modes.add("ProxyTorchDispatchMode")
    # whether only the tracing above autograd fails for want of the mode
    above = "ProxyTorchDispatchMode" in modes and outcomes["ProxyTorchDispatchMode"][0] == "runs"
    return {"autograd": fails and outcomes["inference"] == "runs", "modes": modes, "above": above}


def said_by_checks(state: State, results: tuple[Finding, ...], name: str) -> dict[str, Any]:
    """Claims of the checks about an operator with CPU tensors."""
    operator = state.higher_order_operator(name)
    assert operator is not None
    of = {finding.check: finding for finding in results if finding.operator == name}
    autograd, mode = (of.get(f"higher-order-{what}") for what in ("autograd", "mode"))
    return {
        "autograd": autograd is not None
        and any("AutogradCPU" in problem.keys for problem in missing_autograd(state, operator)),
        "modes": set() if mode is None else {words for words, _ in mode.details},
        "above": mode is not None and "tracing above autograd fails" in mode.message,
    }


@pytest.fixture(scope="module")
def live(cases: dict[str, Case]) -> dict[str, Any]:
    return ask(cases)


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    print(f"{SEED}={seed}")
    choose = random.Random(seed)
    return {f"checked_{number}": random_case(choose) for number in range(CASES)}


def test_random_operators(cases: dict[str, Case], live: dict[str, Any], state_of: StateOf) -> None:
    operators = [declaration(name, case) for name, case in cases.items()]
    state = state_of(yaml.safe_dump({"dispatch": 1, "higher_order_operators": operators}))
    results = findings(state, select="DC6")
    wrong = []
    for name, case in cases.items():
        theirs, ours = happens(live[name], case), said_by_checks(state, results, name)
        if ours != theirs:
            wrong.append((case, ours, theirs, live[name]))
    assert not wrong, "\n".join(map(str, wrong[:3])) + f"\n{len(wrong)} of {len(cases)}"
    counts = {
        check: sum(finding.check == check for finding in results) for check in {finding.check for finding in results}
    }
    assert len(counts) == 2
    assert min(counts.values()) > CASES // 30


@pytest.mark.parametrize("id_", ["higher-order-autograd", "higher-order-mode"])
def test_the_examples(id_: str) -> None:
    """The bad example fails as its check says; the good one does not."""
    check = next(check for check in CHECKS if check.id == id_)
    declared = {kind: yaml.safe_load(text)["higher_order_operators"][0] for kind, text in examples(check)}
    cases = {
        f"{one['name']}_{kind}": {
            "dispatch": [*one["dispatch"]],
            "fallthrough": [],
            "autograd": "autograd" in one,
            "modes": [*one["modes"]],
            "functionalize": "functionalize" in one,
            "mutates": one.get("mutates", False),
            "side_effect": False,
        }
        for kind, one in declared.items()
    }
    live = ask(cases)
    bad, good = (happens(live[name], cases[name]) for name in cases)
    assert good == {"autograd": False, "modes": set(), "above": False}
    assert bad == {
        "autograd": id_ == "higher-order-autograd",
        "modes": {"ProxyTorchDispatchMode", "FunctionalTensorMode"} if id_ == "higher-order-mode" else set(),
        "above": False,
    }
