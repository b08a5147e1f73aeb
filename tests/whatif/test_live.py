"""Histories without some of their registrations, or in another order, against PyTorch that never had these.

``DISPATCH_CLI_LIVE_HISTORIES`` says how many there are.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from random import Random

import pytest

from dispatch_cli import universes
from dispatch_cli.api import load_state
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import live_seed, live_universe, torch_python

IN_PYTORCH = """
import json
import sys

import torch

C = torch._C

def run(number, history):
    namespace = f"whatif{number}"
    libraries = []
    for step in history:
        kind = step[0]
        library = C._dispatch_library("IMPL" if kind == "fallback" else "FRAGMENT", *_of(step, namespace))
        libraries.append(library)
        if kind == "def":
            library.def_("foo(Tensor x) -> Tensor", "")
        elif kind == "impl":
            library.impl_t_t("foo", dispatch=step[1], debug=step[2])
        else:
            library.fallback_fallthrough()
    name = f"{namespace}::foo"
    try:
        C._dispatch_check_invariants(name)
        in_order = True
    except RuntimeError:
        in_order = False
    dumps = [C._dispatch_dump_table(name), in_order]
    while libraries:
        libraries.pop()
    return dumps

def _of(step, namespace):
    return ("_", step[1]) if step[0] == "fallback" else (namespace, "")

print(json.dumps([run(number, history) for number, history in enumerate(json.load(sys.stdin))]))
"""
"""Runs histories of registrations, each by itself: PyTorch's table of the operator, and whether it is in order.

A history is a list of steps: ["def"], ["impl", KEY, DEBUG], ["fallback", KEY].
"""
COUNT = int(os.environ.get("DISPATCH_CLI_LIVE_HISTORIES", "80"))
ALIASES = (
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
    "CompositeExplicitAutogradNonFunctional",
    "Autograd",
)
KEYS = ("CPU", "CUDA", "XLA", "Meta", "PrivateUse1", "QuantizedCPU", "SparseCPU", "NestedTensorCPU", "AutogradCPU",
        "AutogradOther", "BackendSelect", "MkldnnCPU", "FuncTorchBatched", "AutocastCPU")  # fmt: skip
FALLBACKS = ("XLA", "PrivateUse1", "QuantizedCPU", "MPS")

Step = tuple[str, ...]


def random_history(dice: Random) -> list[Step]:
    """A definition, kernels, of which several can be at one key, and fallbacks, in any order."""
    steps: list[Step] = [("def",)]
    for number in range(dice.randint(2, 9)):
        key = dice.choice(ALIASES) if dice.random() < 0.5 else dice.choice(KEYS)
        steps.append(("impl", key, f"fn_{key}_{number}"))
    steps += [("fallback", key) for key in FALLBACKS if dice.random() < 0.25]
    dice.shuffle(steps)
    return steps


def block(step: Step, namespace: str) -> dict[str, object]:
    if step[0] == "def":
        return {"kind": "FRAGMENT", "namespace": namespace, "define": ["foo(Tensor x) -> Tensor"]}
    if step[0] == "fallback":
        kernel = {"fallthrough": True, "debug": "registered at /dev/null:0"}
        return {"kind": "IMPL", "namespace": "_", "dispatch_key": step[1], "fallback": kernel}
    # the kernels that PyTorch registers for tests are one function: a slot with another one of them is not stale
    kernel = {"kernel": "identity", "debug": step[2], "signature": "(Tensor x) -> Tensor", "dispatch_key": step[1]}
    return {"kind": "IMPL", "namespace": namespace, "impl": {"foo": kernel}}


def name_of(step: Step, namespace: str) -> dict[str, object]:
    if step[0] == "fallback":
        return {"fallback": step[1]}
    return {"operator": f"{namespace}::foo", "dispatch_key": step[1], "kernel": step[2]}


def random_changes(dice: Random, history: list[Step], namespace: str) -> tuple[list[object], list[Step]]:
    """Changes as a file has them, and the history after them."""
    changes: list[object] = []
    after = [*history]
    for _ in range(dice.randint(1, 4)):
        there = [step for step in after if step[0] != "def"]
        step = dice.choice(there)
        name = name_of(step, namespace)
        others = [other for other in there if other != step]
        if dice.random() < 0.4 and len(there) > 1:
            after.remove(step)
            changes.append({"remove": name})
        elif others:
            target = dice.choice(others)
            word = dice.choice(("before", "after"))
            after.remove(step)
            after.insert(after.index(target) + (word == "after"), step)
            changes.append({"move": name, word: name_of(target, namespace)})
    return changes, after


@pytest.mark.live
def test_changed_histories(tmp_path: Path) -> None:
    dice = Random(live_seed())
    universe = universes.from_data(live_universe())
    results = []
    histories: list[list[Step]] = []
    for number in range(COUNT):
        namespace = f"whatif{number}"
        history = random_history(dice)
        changes, after = random_changes(dice, history, namespace)
        histories.append(after)
        files = []
        for name, content in (
            ("before.yaml", {"libraries": [block(step, namespace) for step in history]}),
            ("changes.yaml", {"changes": changes}),
        ):
            path = tmp_path / name
            path.write_text(json.dumps({"dispatch": 1, **content}))
            files.append(str(path))
        state = load_state(files, universe=universe)
        operator = OperatorName.parse(f"{namespace}::foo")
        results.append([state.dispatcher.dump_table(operator), not state.dispatcher.stale_entries(operator)])
    ran = in_pytorch.run([torch_python(), "-c", IN_PYTORCH], json.dumps(histories))
    expected = json.loads(ran.stdout)
    different = [number for number, pair in enumerate(zip(results, expected, strict=True)) if pair[0] != pair[1]]
    assert different == [], f"{histories[different[0]]}\n{results[different[0]]}\n{expected[different[0]]}"
    assert not all(in_order for _, in_order in expected), "PyTorch has no stale slot after any history"
