"""Tables as reports: folding, grids, what is marked."""

from __future__ import annotations

from pathlib import Path

import pytest

from dispatch_cli import universes
from dispatch_cli.answers.shared.slot_row import Before
from dispatch_cli.answers.table.grid import grid_of
from dispatch_cli.answers.table.report import (
    Aside,
    OperatorSummary,
    OperatorTable,
    fold_table,
    summary_report,
    table_report,
)
from dispatch_cli.api import load_state, what_if_state
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from tests.support import SOME_UNIVERSES


def table_of(state: State, name: str, keys: frozenset[str] | None = None) -> OperatorTable:
    (table,) = table_report(state, [OperatorName.parse(name)], keys).operators
    return table


@pytest.fixture(scope="module")
def what_if() -> State:
    return what_if_state(["CPU", "CompositeImplicitAutograd"])


@pytest.mark.parametrize("name", SOME_UNIVERSES)
def test_a_grid_has_every_slot_once(name: str) -> None:
    universe = universes.load(name)
    table = table_of(what_if_state(["CPU"], universe=name), "__test__::foo")
    grid = grid_of(table, universe)
    assert grid.backends == universe.backends
    assert [line.label for line in grid.lines] == [
        *("Dense", "Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
    ]
    in_lines = [cell.key for line in grid.lines for cell in line.cells if cell is not None]
    assert sorted(in_lines + [row.key for row in grid.others]) == sorted(universe.slots)
    for line in grid.lines:
        prefix = "" if line.label == "Dense" else line.label
        assert [cell and cell.key for cell in line.cells] == [f"{prefix}{backend}" for backend in universe.backends]


def test_a_fold_has_every_slot_once(what_if: State) -> None:
    table = table_of(what_if, "__test__::foo")
    folded = fold_table(table.entries, frozenset(what_if.dispatcher.universe.covered_by("Autograd")))
    runs = [row.keys for row in folded.rows]
    runs += [run for aside in Aside for run in folded.aside[aside]]
    assert sorted(key for run in runs for key in run) == sorted(what_if.dispatcher.universe.slots)
    assert [(row.keys[0], len(row.keys), row.answer.rule, row.answer.kernel) for row in folded.rows][:5] == [
        ("Undefined", 1, Rule.MATH, "fn_CompositeImplicitAutograd"),
        ("CPU", 1, Rule.KERNEL, "fn_CPU"),
        ("CUDA", 84, Rule.MATH, "fn_CompositeImplicitAutograd"),
        ("AutogradOther", 1, Rule.MATH, "fn_CompositeImplicitAutograd"),
        (
            "AutogradCPU",
            1,
            Rule.FALLBACK,
            "registered at /__w/pytorch/pytorch/aten/src/ATen/core/VariableFallbackKernel.cpp:66",
        ),
    ]
    assert [run for run in folded.aside[Aside.CORE_FALLTHROUGH] if len(run) > 1] == [
        ("AutocastCPU", "AutocastMTIA", "AutocastMAIA", "AutocastXPU"),
        ("AutocastMPS", "AutocastCUDA"),
    ]


def test_a_fold_keeps_apart_what_differs() -> None:
    state = load_state([str(Path(__file__).parents[2] / "examples" / "stale.yaml")])
    autograd = frozenset(state.dispatcher.universe.covered_by("Autograd"))
    for name in ("stale::explicit", "stale::quantized", "stale::fine"):
        rows = {row.key: row for row in table_of(state, name).entries}
        for folded in fold_table(tuple(rows.values()), autograd).rows:
            for key in folded.keys:
                row, first = rows[key], folded.answer
                assert (row.rule, row.fallthrough, row.stale, row.before) == (
                    *(first.rule, first.fallthrough, first.stale, first.before),
                )
                assert row.live_kernel == first.live_kernel or not row.stale
                assert row.core_fallback or (row.kernel, row.span) == (first.kernel, first.span)


BASE = """\
dispatch: 1
operators:
  - func: demo::op(Tensor x) -> Tensor
    dispatch: {CPU: {kernel: op_cpu, signature: "(Tensor x) -> Tensor"}, CompositeImplicitAutograd: op_math}
  - func: demo::same(Tensor x) -> Tensor
    dispatch: {CPU: same_cpu}
"""
OVERLAY = """\
dispatch: 1
extends: [./base.yaml]
operators:
  - {name: 'demo::op', dispatch: {CUDA: op_cuda}}
  - {func: 'demo::new(Tensor x) -> Tensor', dispatch: {CPU: new_cpu}}
"""


def test_what_an_overlay_changes(tmp_path: Path) -> None:
    (tmp_path / "base.yaml").write_text(BASE, encoding="utf-8")
    (tmp_path / "overlay.yaml").write_text(OVERLAY, encoding="utf-8")
    state = load_state([str(tmp_path / "overlay.yaml")])
    changed = {row.key: row.before for row in table_of(state, "demo::op").entries if row.before is not None}
    math = Before(Rule.MATH, "op_math", False)
    assert changed == {"CUDA": math, "AutogradCUDA": math}
    assert not any(row.before for row in table_of(state, "demo::same").entries)
    new = table_of(state, "demo::new")
    assert (new.new, [row for row in new.entries if row.before]) == (True, [])
    assert not table_of(state, "demo::op").new
    names = [OperatorName.parse(f"demo::{name}") for name in ("op", "same", "new")]
    summaries: list[OperatorSummary] = list(summary_report(state, names).operators)
    assert [(summary.operator, summary.changed, summary.stale) for summary in summaries] == [
        ("demo::op", 2, 0),
        ("demo::same", 0, 0),
        ("demo::new", 0, 0),
    ]
