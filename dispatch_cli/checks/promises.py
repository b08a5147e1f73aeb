"""Promises, cell by cell: which operators each is about, and what breaks it.

What several promises ask for is looked at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from dispatch_cli.checks.guarding_budget import OF_CELL, OF_TEXT, GuardBudget
from dispatch_cli.checks.view import View
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.glob import glob_pattern, is_glob
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.support import Promise, SupportContext

MOST_PLACES = 4
"""Promises that are named of those that ask for the same."""


class BrokenPromise(NamedTuple):
    """Cells of one operator that are not as promised, for one reason, with the same contexts on each backend.

    columns: those of the cells. cell: the first. promises: the first ones that ask for one of the cells.
    """

    row: SupportRow
    columns: tuple[Column, ...]
    cell: Cell
    promises: tuple[Promise, ...]

    @property
    def backends(self) -> tuple[str, ...]:
        """The keys of the backends."""
        return tuple(dict.fromkeys(one.backend for one in self.columns))

    @property
    def contexts(self) -> tuple[SupportContext, ...]:
        """The contexts."""
        return tuple(dict.fromkeys(one.context for one in self.columns))


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
            if not self._matching[glob] and not any(map(glob_pattern(glob).match, self._view.broken)):
                yield promises[0], glob

    def broken(self) -> Iterator[BrokenPromise]:
        """What is not as promised, by operator. Errors: InputError when it is too much work."""
        bits: dict[tuple[str, SupportContext], int] = {}
        asked: dict[OperatorName, int] = {}
        globs: dict[OperatorName, list[str]] = {}
        for glob, promises in self._by_glob.items():
            mask = 0
            for one in promises:
                for key in ((backend, context) for backend in one.backends for context in one.contexts):
                    mask |= bits.setdefault(key, 1 << len(bits))
            for name in self._matching[glob]:
                if self._view.guarded is None or name in self._view.guarded:
                    asked[name] = asked.get(name, 0) | mask
                    globs.setdefault(name, []).append(glob)
        backends, contexts = (tuple(dict.fromkeys(some)) for some in zip(*bits, strict=True)) if bits else ((), ())
        every = support_columns(self._view.state, (), backends, contexts) if bits else ()
        bit_of = {one: bits.get((one.backend, one.context), 0) for one in every}
        of_mask = {mask: [one for one in every if mask & bit_of[one]] for mask in {*asked.values()}}
        for name, mask in asked.items():
            self._budget.spend(len(of_mask[mask]) * OF_CELL, self._by_glob[globs[name][0]][0])
        for name in sorted(asked, key=str):
            columns = of_mask[asked[name]]
            (row,) = support_rows(self._view.state, (name,), columns)
            for some, cell in _grouped(columns, row):
                asking = (one for glob in globs[name] for one in self._by_glob[glob] if _asks(one, some))
                yield BrokenPromise(row, some, cell, tuple(dict.fromkeys(islice(asking, MOST_PLACES))))

    @cached_property
    def _matching(self) -> dict[str, list[OperatorName]]:
        """The defined operators of each glob."""
        view, found = self._view, dict[str, list[OperatorName]]()
        names = {str(name): name for name in view.names}
        for glob, promises in self._by_glob.items():
            some = [glob] if glob in names else []
            if is_glob(glob):
                self._budget.spend(len(names) * OF_TEXT, promises[0])
                some = list(filter(glob_pattern(glob).match, names))
            found[glob] = [
                name for name in map(names.__getitem__, some) if view.schema_text(name) or view.is_unknown(name)
            ]
        return found


def _asks(promise: Promise, columns: tuple[Column, ...]) -> bool:
    return any(one.backend in promise.backends and one.context in promise.contexts for one in columns)


def _grouped(columns: list[Column], row: SupportRow) -> Iterator[tuple[tuple[Column, ...], Cell]]:
    """The cells that are not as promised: those that fail, and those that are not known."""
    found: dict[tuple[Reason | None, str | None], dict[str, list[Column]]] = {}
    cells = dict(zip(columns, row.cells, strict=True))
    for column, cell in cells.items():
        if cell.reason is not None:
            error = cell.error if cell.reason is Reason.CALL else None
            found.setdefault((cell.reason, error), {}).setdefault(column.backend, []).append(column)
    for by_backend in found.values():
        alike: dict[tuple[SupportContext, ...], list[Column]] = {}
        for those in by_backend.values():
            alike.setdefault(tuple(one.context for one in those), []).extend(those)
        for those in alike.values():
            yield tuple(those), cells[those[0]]
