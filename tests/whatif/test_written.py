"""What is written says the same as what was tried."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from dispatch_cli.api import load_state
from dispatch_cli.checks import CHECKS
from dispatch_cli.checks.run import run_checks
from dispatch_cli.checks.view import View
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.table.table import answer
from dispatch_cli.model import read_files
from dispatch_cli.model.call import TensorSpec
from dispatch_cli.model.change import Removal
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report import questions
from dispatch_cli.report.baseline import Entry
from dispatch_cli.whatif.whatif import WhatIf
from dispatch_cli.whatif.written import CannotSave
from tests.whatif.random_changes import make_random_changes

ROOT = Path(__file__).parents[2]
EXAMPLES = [
    path
    for path in sorted((ROOT / "examples").glob("*.yaml"))
    if path.name not in ("broken.yaml", "npu_native_functions.yaml")
]


def seen(state: State, operators: list[OperatorName]) -> list[object]:
    """Everything that a state answers of some operators, but for places in the file of changes."""
    found: list[object] = []
    for name in operators:
        if name not in state.dispatcher:
            found.append((name, None))
            continue
        table, stale = state.dispatcher.table(name), state.dispatcher.stale_slots(name)
        found.append((name, [answer(entry)[:3] for entry in table.values()]))
        found.append({key: (answer(one.live)[:3], one.cause.came) for key, one in stale.items()})
        found.append([one[:3] for one in state.python_kernels(name)])
    there = [name for name in operators if name in state.dispatcher]
    view = View(state, there, frozenset(there))
    found.append(Counter(map(Entry.of, run_checks(view, CHECKS, CHECKS).findings)))
    return found


def calls(state: State, operators: list[OperatorName]) -> list[object]:
    """How calls of some operators go."""
    found: list[object] = []
    for name in operators:
        for tensor in ("cpu", "cuda", "privateuse1"):
            if name not in state.dispatcher:
                continue
            call = questions.answer(state, name, questions.Question((TensorSpec.parse(tensor),)))
            if call is not None:
                found.append([(hop.slot, answer(hop.live)[:3]) for hop in call.hops])
                found.append(call.end.error)
    return found


@pytest.mark.parametrize("seed", range(12))
def test_over_pytorch(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = Random(seed)
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    operators = [OperatorName.parse(one) for one in dice.sample(tried.original.dispatcher.names(), 3)]
    make_random_changes(dice, tried, operators, 6)
    assert tried.write() == "whatif.yaml"
    loaded = load_state(["whatif.yaml"], bases=["torch-2.15"])
    assert seen(loaded, operators) == seen(tried.state, operators)
    assert calls(loaded, operators) == calls(tried.state, operators)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: str(path.name))
def test_over_examples(path: Path, tmp_path: Path) -> None:
    dice = Random(path.name)
    for _ in range(3):
        tried = WhatIf(load_state([str(path)]))
        operators = tried.original.own_operators()[:8]
        if not operators:
            return
        make_random_changes(dice, tried, operators, 6)
        written = tried.write(str(tmp_path / "changes.yaml"))
        loaded = load_state([str(path), written])
        read_files.forget(written)  # a command that ran in this process before may still note what is read
        assert seen(loaded, operators) == seen(tried.state, operators)
        assert calls(loaded, operators) == calls(tried.state, operators)


@pytest.mark.parametrize("name", ["\U0001f600", "é ñ", "\\ud83d\\ude00", '"', "k\\"])
def test_names_of_kernels_are_written_as_they_are(name: str, tmp_path: Path) -> None:
    path = tmp_path / "decl.yaml"
    kernels = json.dumps([name, "k2"], ensure_ascii=False)
    path.write_text(f"dispatch: 1\noperators:\n- func: m::f(Tensor x) -> Tensor\n  dispatch: {{CPU: {kernels}}}\n")
    tried = WhatIf(load_state([str(path)]))
    operator = OperatorName.parse("m::f")
    off = next(one for one in tried.registrations(operator) if one.function == name)
    tried.make(Removal(off.name))
    loaded = load_state([str(path), tried.write(str(tmp_path / "changes.yaml"))])
    assert [one.kernel.function for one in loaded.dispatcher.operator(operator).kernels["CPU"]] == ["k2"]


def test_what_is_no_file_is_not_opened(tmp_path: Path) -> None:
    tried = WhatIf(load_state([], bases=["torch-2.15"]))
    make_random_changes(Random(1), tried, [OperatorName.parse("aten::add.Tensor")], 1)
    pipe = tmp_path / "whatif.yaml"
    os.mkfifo(pipe)
    with pytest.raises(CannotSave):
        tried.write(str(pipe))
