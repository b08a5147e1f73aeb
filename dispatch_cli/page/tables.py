"""Tables that several operators have in common, in words: cells, rows, legend, notes, the state of each kernel."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from typing import Any

from dispatch_cli.answers.explain.report import cause_of
from dispatch_cli.answers.explain.wording import stale_sentence
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.document import notes, stale_note, titles
from dispatch_cli.answers.table.grid_document import CODES, CORE_FALLBACK, FALLTHROUGH, MARKS, cell_of, code_of, grid_of
from dispatch_cli.answers.table.registrations.document import KERNELS
from dispatch_cli.answers.table.registrations.report import KernelRow, registrations_report
from dispatch_cli.answers.table.report import changed_slots, fold_table, row_of, table_report
from dispatch_cli.answers.table.wording import before_label, kernel_label, mark_of
from dispatch_cli.engine.state import State
from dispatch_cli.engine.table.registration import schema_text_takes_tensors
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.listing import Listed
from dispatch_cli.page.outcomes import Outcomes
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.document import Column, runs_of
from dispatch_cli.render.words import aside_lines, keys_label

_CODES = (*CODES.values(), CORE_FALLBACK, FALLTHROUGH)
_STATE, _FILLS = (next(column for column in KERNELS if column.header == header) for header in ("State", "Fills"))


class Tables:
    """The tables of a state's operators, each once.

    Operators share one if they have kernels at the same keys, and the same ones are equal. cells: the meaning of a
    slot's code, its tone, the meaning of all its marks, and these. values: for each table its plan, a cell for each
    slot, the rows of its folded table, the slots that differ from the base, what a call runs at stale ones, the state
    of each kernel, the legend, the slots without a row, and the notes.
    """

    def __init__(self, state: State, outcomes: Outcomes) -> None:
        self.state, self.outcomes = state, outcomes
        self.cells, self._pool = Pool(), Pool()
        self.values = self._pool.values
        self._autograd = frozenset(state.dispatcher.universe.covered_by("Autograd"))
        self._slots = state.dispatcher.universe.slot

    def add(self, name: OperatorName, schema: str | None, row: Listed) -> int:
        """The number of an operator's table. row: what the list says of the operator."""
        return self._pool.build(self._shared(name, schema, row), lambda _: self._table(name))

    def _shared(self, name: OperatorName, schema: str | None, row: Listed) -> Hashable:
        """Value that is equal for operators whose tables have the same words, but for those of the kernels."""
        dispatcher, equal = self.state.dispatcher, dict[Hashable, int]()
        kernels = [
            (key, *(equal.setdefault((at.kernel.label, at.kernel.span, at.kernel.when), len(equal)) for at in rows))
            for key, rows in sorted(dispatcher.operator(name).kernels.items())
        ]
        takes = None if schema is None else schema_text_takes_tensors(schema)
        own = name if row.stale else None
        before = tuple(changed_slots(self.state, name).items()) if row.changed else ()
        return *dispatcher.shape(name), *kernels, takes, own, before

    def _table(self, name: OperatorName) -> dict[str, Any]:
        (table,) = table_report(self.state, (name,)).operators
        (registered,) = registrations_report(self.state, (name,)).operators
        folding = fold_table(table.entries, self._autograd)
        asides = aside_lines((title, folding.aside.get(aside)) for aside, title in titles(folding).items())
        codes, marks = Counter(map(code_of, table.entries)), Counter(map(mark_of, table.entries))
        legend = [(code.letter, code.tone, code.meaning, codes[code]) for code in _CODES if codes[code]]
        legend += [(mark, tone, meaning, marks[mark]) for mark, (meaning, tone) in MARKS.items() if marks[mark]]
        return {
            "plan": self.outcomes.plan(name),
            "cells": [self._cell(row) for row in table.entries],
            "rows": [[keys_label(run.keys), [self._slots[key] for key in run.keys]] for run in folding.rows],
            "before": {self._slots[row.key]: before_label(row.before, True) for row in table.entries if row.before},
            "live": self._live(name),
            "kernels": [[row.alias, _text(_STATE, row), _text(_FILLS, row)] for row in registered.kernels],
            "legend": [[sign, tone.value, f"{meaning}, {slots:,}"] for sign, tone, meaning, slots in legend],
            "asides": [*written_blocks(asides)],
            "notes": [*written_blocks((*notes(table), *stale_note(table)))],
        }

    def layout(self, name: OperatorName) -> dict[str, Any]:
        """The grid of every operator: its backends, the lines with their slots, and the other slots."""
        (table,) = table_report(self.state, (name,)).operators
        grid = grid_of(table, self.state.dispatcher.universe)
        return {
            "backends": grid.backends,
            "lines": [
                [line.label, *(-1 if row is None else self._slots[row.key] for row in line.cells)]
                for line in grid.lines
            ],
            "others": [self._slots[row.key] for row in grid.others],
        }

    def _cell(self, row: TableRow) -> int:
        return self.cells.build((code_of(row), mark_of(row), row.before), lambda _: _cell(row))

    def _live(self, name: OperatorName) -> dict[int, list[str]]:
        """The sentence on each stale slot, and what the live table holds there."""
        live = {}
        for key, behind in self.state.dispatcher.stale_slots(name).items():
            row = row_of(self.state, behind.live)
            sentence = stale_sentence(key, row, cause_of(behind))
            live[self._slots[key]] = [sentence, f"{row.rule.dump_text}, {kernel_label(row, True)}"]
        return live


def _cell(row: TableRow) -> list[Any]:
    code, marks = code_of(row), cell_of(row).marks
    title = ", ".join(mark.meaning for mark in marks if mark.meaning)
    return [code.meaning, code.tone.value, title, [[mark.text, mark.tone.value] for mark in marks]]


def _text(column: Column[KernelRow], row: KernelRow) -> str:
    return "".join(run.text for run in runs_of(column.cell(row, False)))
