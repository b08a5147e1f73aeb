"""Promises, cell by cell: which operators each is about, and what breaks it.

What several promises ask for is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, product
from typing import NamedTuple

from dispatch_cli.checks.expectations import OF_CELL, OF_TEXT, GuardBudget
from dispatch_cli.checks.view import View
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.calls.support import Promise, SupportContext, boxes
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.glob import glob_pattern, is_glob

MOST_PLACES = 4
"""Promises that are named of those that ask for the same."""


class BrokenPromise(NamedTuple):
    """Cells of one operator that are not as promised, for one reason: those of each of the contexts on each backend.

    backends: keys. cell: the first. promises: the first ones that ask for one of the cells.
    """

    row: SupportRow
    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]
    cell: Cell
    promises: tuple[Promise, ...]


class Promises:
    """The promises of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._budget = GuardBudget()
        self._by_glob: dict[str, list[Promise]] = {}
        for promise in view.state.declarations.promises:
            for glob in dict.fromkeys(promise.ops):
                self._by_glob.setdefault(glob, []).append(promise)

    def unmatched(self) -> Iterator[tuple[Promise, str]]:
        """The globs and names that are those of no defined operator, each with the first promise that has it."""
        for glob, promises in self._by_glob.items():
            if not self._matching[glob]:
                yield promises[0], glob

    def broken(self) -> Iterator[BrokenPromise]:
        """Broken promises, by operator. Errors: InputError when it is too much work."""
        state = self._view.state
        asked = self._asked()
        for columns, globs in asked.values():
            self._budget.spend(len(columns) * OF_CELL, self._by_glob[globs[0]][0])
        for name in sorted(asked, key=str):
            columns, globs = asked[name]
            (row,) = support_rows(state, (name,), columns)
            for backends, contexts, cell in _grouped(columns, row):
                asking = (
                    promise
                    for glob in globs
                    for promise in self._by_glob[glob]
                    if not {*promise.backends}.isdisjoint(backends) and not {*promise.contexts}.isdisjoint(contexts)
                )
                yield BrokenPromise(row, backends, contexts, cell, tuple(dict.fromkeys(islice(asking, MOST_PLACES))))

    def _asked(self) -> dict[OperatorName, tuple[Sequence[Column], list[str]]]:
        """The cells that promises ask for, and the globs of these, by operator."""
        bits: dict[tuple[str, SupportContext], int] = {}
        masks: dict[OperatorName, int] = {}
        globs: dict[OperatorName, list[str]] = {}
        for glob, promises in self._by_glob.items():
            mask = 0
            for promise in promises:
                for key in product(promise.backends, promise.contexts):
                    mask |= bits.setdefault(key, 1 << len(bits))
            for name in self._matching[glob]:
                if self._view.guarded is None or name in self._view.guarded:
                    masks[name] = masks.get(name, 0) | mask
                    globs.setdefault(name, []).append(glob)
        backends = tuple(dict.fromkeys(backend for backend, _ in bits))
        every = support_columns(self._view.state, (), backends) if backends else ()
        bit_of = {column: bits.get((column.backend, column.context), 0) for column in every}
        columns = {mask: [column for column in every if mask & bit_of[column]] for mask in {*masks.values()}}
        return {name: (columns[mask], globs[name]) for name, mask in masks.items()}

    @cached_property
    def _matching(self) -> dict[str, list[OperatorName]]:
        """The defined operators of each glob."""
        view, matching = self._view, dict[str, list[OperatorName]]()
        names = {str(name): name for name in view.names}
        for glob, promises in self._by_glob.items():
            texts = [glob] if glob in names else []
            if is_glob(glob):
                self._budget.spend(len(names) * OF_TEXT, promises[0])
                texts = list(filter(glob_pattern(glob).match, names))
            operators = (names[text] for text in texts)
            matching[glob] = [name for name in operators if view.schema_text(name) or view.is_unknown(name)]
        return matching


def _grouped(
    columns: Sequence[Column], row: SupportRow
) -> Iterator[tuple[tuple[str, ...], tuple[SupportContext, ...], Cell]]:
    """The cells that fail, or are not known, by reason."""
    by_reason: dict[tuple[Reason, bool, str | None], dict[tuple[str, SupportContext], Cell]] = {}
    for column, cell in zip(columns, row.cells, strict=True):
        if cell.reason is not None:
            error = cell.error if cell.reason is Reason.CALL else None
            by_reason.setdefault((cell.reason, cell.verdict.fails, error), {})[column.backend, column.context] = cell
    for cells in by_reason.values():
        for backends, contexts in boxes(cells):
            yield backends, contexts, cells[backends[0], contexts[0]]
