"""The order of registrations: what calls run, where PyTorch's live table is stale, counts as the slot's answer."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.engine.comparison.states import compare_states
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.table import answer
from dispatch_cli.model.names import OperatorName
from tests import in_pytorch
from tests.capture.support import torch_python

NAME = OperatorName.parse("my::op")
KEYS = ("CPU", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "AutogradOther")
CALLS = """
import json, sys, torch
def ran(number, keys):
    library, found = torch.library.Library(f"orders{number}", "DEF"), []
    library.define("op(Tensor a) -> Tensor")
    for key in keys:
        library.impl("op", lambda a, key=key: (found.append(key), a.clone())[1], key)
    getattr(torch.ops, f"orders{number}").op(torch.ones(1))
    return found[0]
print(json.dumps([ran(number, keys) for number, keys in enumerate(json.loads(sys.argv[1]))]))
"""
"""Code that a Python with PyTorch runs: a call on a CPU tensor, after registrations in each of some orders."""


def state(folder: Path, keys: tuple[str, ...]) -> State:
    path = folder / f"{'-'.join(keys)}.yaml"
    kernels = "\n".join(f"      {key}: fn_{key}" for key in keys)
    path.write_text(
        f"dispatch: 1\noperators:\n  - func: my::op(Tensor a) -> Tensor\n    dispatch:\n{kernels}\n", encoding="utf-8"
    )
    return load_state([str(path)])


def differing(old: State, new: State) -> set[str]:
    changes = compare_states(old, new).operators
    return {key for change in changes for slots in change.slots for key in slots.keys}


def test_slots_that_differ_are_those_of_the_live_tables(tmp_path: Path) -> None:
    states = [state(tmp_path, keys) for number in (2, 3) for keys in permutations(KEYS, number)]
    for case in states:
        live = case.dispatcher.operator(NAME).live
        assert all(entry == live[key] for key, entry in case.dispatcher.live_table(NAME).items())
    stale = 0
    for old in states[::3]:
        for new in states:
            operators = [case.dispatcher.operator(NAME) for case in (old, new)]
            stale += bool(operators[0].live.stale() or operators[1].live.stale())
            slots = old.dispatcher.universe.slots
            before, after = ({key: answer(operator.live[key]) for key in slots} for operator in operators)
            # the names of the kernels follow from the keys
            changed = {key for key in slots if before[key][:2] != after[key][:2]}
            assert differing(old, new) == changed
    assert stale > 50


@pytest.mark.live
def test_what_calls_run(tmp_path: Path) -> None:
    orders = [keys for number in (1, 2, 3) for keys in permutations(KEYS[:3], number)]
    done = in_pytorch.run([torch_python(), "-c", CALLS, json.dumps(orders)])
    ran = json.loads(done.stdout)
    assert len(set(ran)) == 3
    states = [state(tmp_path, keys) for keys in orders]
    for old, was in zip(states, ran, strict=True):
        for new, became in zip(states, ran, strict=True):
            slots = differing(old, new)
            if was != became:
                assert slots & {"CPU", "AutogradCPU"}
            else:
                assert "AutogradCPU" not in slots or "CPU" in slots
