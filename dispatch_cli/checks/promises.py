"""Promises, cell by cell: which operators each is about, and what breaks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.checks.guarding import OF_CELL, OperatorGlobs
from dispatch_cli.checks.view import View
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.calls.support import PROMISED, Promise, SupportContext, boxes
from dispatch_cli.model.names import OperatorName


class BrokenPromise(NamedTuple):
    """Cells of one operator that are not as promised, for one reason: those of each of the contexts on each backend.

    backends: keys. cell: the first.
    """

    row: SupportRow
    backends: tuple[str, ...]
    contexts: tuple[SupportContext, ...]
    cell: Cell
    promise: Promise


class Promises:
    """The promises of a view."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._globs = OperatorGlobs(view)

    def unmatched(self) -> Iterator[tuple[Promise, str]]:
        """The globs and names that are those of no defined operator, each with its promise."""
        for promise in self._view.state.declarations.promises:
            yield from ((promise, glob) for glob in dict.fromkeys(promise.ops) if not self._matching(promise, glob))

    def broken(self) -> Iterator[BrokenPromise]:
        """Broken promises, each by operator. Errors: InputError when it is too much work."""
        state, guarded = self._view.state, self._view.guarded
        for promise in state.declarations.promises:
            names = {name for glob in promise.ops for name in self._matching(promise, glob)}
            asked = sorted(names if guarded is None else names & guarded, key=str)
            contexts = [context for context in PROMISED if context in promise.contexts]
            columns = support_columns(state, (), promise.backends, contexts)
            self._globs.spend(len(asked) * len(columns) * OF_CELL, promise)
            for row in support_rows(state, asked, columns):
                for backends, of_contexts, cell in _grouped(columns, row):
                    yield BrokenPromise(row, backends, of_contexts, cell, promise)

    def _matching(self, promise: Promise, glob: str) -> list[OperatorName]:
        """The defined operators of a glob."""
        view = self._view
        operators = self._globs.matching(glob, promise)
        return [name for name in operators if view.schema_text(name) or view.is_unknown(name)]


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
