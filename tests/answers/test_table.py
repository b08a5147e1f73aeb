"""Tables as reports: folding, grids, what is marked."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from dispatch_cli.answers.shared.slot_row import Before
from dispatch_cli.answers.table.report import (
    changed_slots,
)
from dispatch_cli.api import load_state
from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.whatif.whatif import WhatIf
from tests.whatif.random_changes import make_random_changes

# Content of slots before the user's files: these can change what was registered before them.


ADD = OperatorName.parse("aten::add.Tensor")
REMOVES = """
changes:
  - remove: {operator: "aten::add.Tensor", dispatch_key: "CPU"}
"""


def held(state: State, name: OperatorName) -> dict[str, Before]:
    """Content of the slots of an operator."""
    if name not in state.dispatcher:
        return {}
    entries = [(entry, entry.kernel) for entry in state.dispatcher.table(name).values()]
    return {
        entry.key: Before(entry.decision.rule, kernel.label if kernel else None, entry.is_fallthrough)
        for entry, kernel in entries
    }


def changed(before: State, after: State, name: OperatorName) -> dict[str, Before]:
    """The slots of an operator that two states, each loaded by itself, have differently, as the first has them."""
    now = held(after, name)
    return {key: was for key, was in held(before, name).items() if now[key] != was}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("file", [None, "examples/overlay.yaml"])
def test_random_changes_of_a_base(seed: int, file: str | None, tmp_path: Path) -> None:
    dice = Random(f"{seed} {file}")
    bases, files = (("torch-2.15",), []) if file is None else ((), [file])
    base = load_state((), bases=("torch-2.15",))
    tried = WhatIf(load_state(files, bases=bases))
    operators = [OperatorName.parse(name) for name in dice.sample(base.dispatcher.names(), 3)]
    operators.append(OperatorName.parse("aten::to.dtype"))
    make_random_changes(dice, tried, operators, 6)
    written = tried.write(str(tmp_path / "changes.yaml"))
    loaded = load_state([*files, written], bases=bases)
    for name in operators:
        expected = changed(base, loaded, name)
        for state in (loaded, tried.state):
            assert changed_slots(state, name).keys() >= expected.keys()
            assert {key: changed_slots(state, name)[key] for key in expected} == expected
            same = changed_slots(state, name).keys() - expected.keys()  # another kernel of the same name
            assert all(held(base, name)[key] == changed_slots(state, name)[key] for key in same)


def test_changes_of_a_file_that_is_extended_count(tmp_path: Path) -> None:
    (tmp_path / "mid.yaml").write_text(f"dispatch: 1\nextends: torch-2.15\n{REMOVES}", encoding="utf-8")
    own = 'dispatch: 1\nextends: mid.yaml\noperators:\n- {name: "aten::add.Tensor", dispatch: {MPS: mine}}\n'
    more = 'changes:\n  - remove: {operator: "aten::add.Tensor", dispatch_key: "CUDA"}\n'
    for text, keys in ((own, {"CPU", "MPS"}), (own + more, {"CPU", "MPS", "CUDA"})):
        (tmp_path / "own.yaml").write_text(text, encoding="utf-8")
        state = load_state([str(tmp_path / "own.yaml")])
        assert changed_slots(state, ADD).keys() == keys
        assert changed_slots(state, ADD) == changed(load_state((), bases=("torch-2.15",)), state, ADD)
