"""`support --record`: what is promised holds on the same state, and everything that works is promised."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from dispatch_cli.answers.support.record_document import record_yaml
from dispatch_cli.api import load_state
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Column, SupportRow, Verdict
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.glob import glob_pattern
from dispatch_cli.model.names import OperatorName
from tests.answers.random_declarations import kernel_at, keys, schema
from tests.checks.helpers import findings

LIBRARY = """\
dispatch: 1
operators:
  - func: a::f(Tensor x) -> Tensor
    dispatch: {CPU: f, CUDA: f, Meta: f, Autograd: f}
  - func: a::g(Tensor x) -> ()
    dispatch: {CPU: g, CUDA: g}
  - {func: 'b::h(Tensor x) -> Tensor', dispatch: {CPU: h}}
  - {func: 'b::i.o(Tensor x) -> Tensor', dispatch: {CPU: i, Autograd: i}}
"""
RECORDED = """\
# Written by `dispatch-cli support --record`: what worked at that time.
dispatch: 1
support:
  - op: "a::*"
    backends: [cpu, cuda]
    contexts: [eager, autocast, inference]
  - op: a::f
    backends: [cpu, cuda]
    contexts: [train, fake, compile, vmap]
  - op: "b::*"
    backends: cpu
    contexts: [eager, vmap, autocast, inference]
  - op: b::i.o
    backends: cpu
    contexts: train
"""


def matrix(state: State) -> tuple[list[SupportRow], Sequence[Column]]:
    names = [OperatorName.parse(name) for name in state.dispatcher.names()]
    columns = support_columns(state, names, ["cpu", "cuda"])
    return list(support_rows(state, names, columns)), columns


def recorded(folder: Path, library: str, seed: int | None = None) -> str:
    """The recorded promise of a library, compared with what works."""
    (folder / "x.json").write_text(library, encoding="utf-8")
    state = load_state([str(folder / "x.json")])
    rows, columns = matrix(state)
    text = "".join(record_yaml(state, rows, columns))
    (folder / "p.yaml").write_text(text, encoding="utf-8")
    again = load_state([str(folder / "x.json")], guards=[str(folder / "p.yaml")])
    assert findings(again, select="broken-promise") == (), seed
    for row in rows:
        match = [
            promise
            for promise in again.declarations.promises
            if any(glob_pattern(glob).match(str(row.operator)) for glob in promise.ops)
        ]
        for column, cell in zip(columns, row.cells, strict=True):
            promised = any(
                column.backend in promise.backends and column.context in promise.contexts for promise in match
            )
            is_void = cell.verdict is Verdict.NOT_APPLICABLE
            assert is_void or promised is cell.verdict.works, (seed, row.operator, column)
    return text


def test_what_is_recorded(tmp_path: Path) -> None:
    assert recorded(tmp_path, json.dumps(yaml.safe_load(LIBRARY))) == RECORDED


@pytest.mark.parametrize("seed", range(40))
def test_random_libraries(seed: int, tmp_path: Path) -> None:
    dice = random.Random(seed)
    operators = [
        {
            "func": schema(dice).replace("op", f"{dice.choice('ab')}::{number}", 1),
            "dispatch": {key: kernel_at(dice, key) for key in keys(dice)},
        }
        for number in "opqrs"
    ]
    recorded(tmp_path, json.dumps({"dispatch": 1, "universe": "torch-2.15", "operators": operators}), seed)
