"""Claims of the checks about calls, on a live PyTorch."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest

from dispatch_cli.checks.catalogue.terminal_fallthrough import ASSERTS, COULD_NOT_RUN, NO_TENSORS
from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.history.state import State
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python
from tests.checks.helpers import StateOf, findings, loader

pytestmark = pytest.mark.live

CASES = 150
SEED = "DISPATCH_CLI_LIVE_SEED"
KEYS = (
    *("CPU", "AutogradCPU", "Autograd", "Conjugate", "AutocastCPU", "CompositeExplicitAutograd"),
    *("CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional", "XLA"),
)
Cases = dict[str, dict[str, bool]]


@pytest.fixture(scope="module")
def cases() -> Cases:
    """Operators with random kernels; of each, whether it falls through."""
    seed = int(os.environ.get(SEED) or random.randrange(1 << 32))
    print(f"{SEED}={seed}")
    choose = random.Random(seed)
    return {
        f"op{number}": {key: choose.random() < 0.5 for key in choose.sample(KEYS, choose.randint(1, 4))}
        for number in range(CASES)
    }


@pytest.fixture(scope="module")
def live(cases: Cases) -> dict[str, Any]:
    """Answers of a live PyTorch."""
    script = Path(__file__).with_name("live_claims.py")
    done = in_pytorch.run([torch_python(), str(script)], json.dumps(cases))
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def predicted(state: State, name: str, results: tuple[Finding, ...]) -> str | None:
    """The check's claim about a call with a CPU tensor; None where it makes none."""
    source = state.dispatcher.table(OperatorName.parse(name))["CPU"].decision.source
    for finding in results:
        if finding.operator != name or finding.check != "terminal-fallthrough":
            continue
        if finding.message.endswith(COULD_NOT_RUN):
            return "could not run" if "to CPU" in finding.message or "to the backends" in finding.message else None
        if finding.key == source:
            for text, outcome in ((NO_TENSORS, "no tensors"), (ASSERTS, "asserts")):
                if finding.message.endswith(text):
                    return outcome
            return f"runs {finding.message.rpartition(' ')[2]}"
    return None


def test_fallthroughs(cases: Cases, live: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    operators = [
        f"  - func: demo::{name}(Tensor x) -> Tensor\n    dispatch:\n"
        + "".join(f"      {key}: {'fallthrough' if skips else 'k'}\n" for key, skips in kernels.items())
        for name, kernels in cases.items()
    ]
    state_of: StateOf = loader(tmp_path, monkeypatch)
    state = state_of("dispatch: 1\noperators:\n" + "".join(operators))
    results = findings(state)
    wrong, claims = [], 0
    for name, kernels in cases.items():
        ours, theirs = predicted(state, f"demo::{name}", results), live["fallthroughs"][name]
        claims += ours is not None
        silent_is_right = ours is None and theirs not in ("no tensors", "asserts")
        if ours != theirs and not silent_is_right:
            wrong.append(f"{kernels}: the check says {ours}, PyTorch {theirs}")
    assert not wrong
    assert claims > CASES // 10


def test_writes_go_uncounted_without_adinplaceorview(live: dict[str, Any]) -> None:
    assert live["writes"] == {"by hand": 0, "counted": 1}


def test_a_fallthrough_at_conjugate_lets_the_bit_through(live: dict[str, Any]) -> None:
    assert live["conjugates"] == {"plain": False, "falling": True}


def test_batching_rules_that_are_not_reached(live: dict[str, Any]) -> None:
    assert live["batching"] == {"factory": "runs CompositeExplicitAutograd", "both": "runs FuncTorchBatched"}


def test_python_chooses_otherwise(live: dict[str, Any]) -> None:
    assert live["python"] == {
        "nested in C++": "True",
        "nested in Python": "could not find kernel",
        "AutogradMeta": "DispatchKey.AutogradMeta",
    }


def test_forms_that_pytorch_lacks(live: dict[str, Any]) -> None:
    lacking = {name for name, outcome in live["gaps"].items() if outcome == "could not run"}
    assert lacking == {"cos_", "fill", "pow_"}
    assert {outcome for name, outcome in live["gaps"].items() if name not in lacking} == {"runs"}
