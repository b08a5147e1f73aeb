"""Fold the rows of a table so that a person can read it: equal neighbours become one, what says little goes below."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.report.table import TableRow

Runs = tuple[tuple[str, ...], ...]


class FoldedRow(NamedTuple):
    """A run of neighbouring rows with one answer; `first` speaks for all of them."""

    keys: tuple[str, ...]
    first: TableRow


class FoldedTable(NamedTuple):
    """rows: in table order. The other slots, as runs of neighbours: where PyTorch's own fallback runs, where it falls
    through, and where there is nothing."""

    rows: tuple[FoldedRow, ...]
    core_fallbacks: Runs = ()
    core_fallthroughs: Runs = ()
    missing: Runs = ()


def fold(rows: Sequence[TableRow], autograd_keys: frozenset[str]) -> FoldedTable:
    """Fold a table. A run goes on past missing slots, but not past one that PyTorch's own fallback answers.

    autograd_keys: at these a core fallback is an answer worth a row (no derivative), as it is wherever a registered
    kernel took the slot away from the math kernel.
    """
    runs: list[list[TableRow]] = []
    below: dict[str, list[list[str]]] = {"core": [], "fallthrough": [], "missing": []}
    open_run = False
    last_place = None
    for row in rows:
        place = _place_below(row, autograd_keys)
        if place is not None:
            if place == last_place:
                below[place][-1].append(row.key)
            else:
                below[place].append([row.key])
            open_run = open_run and place == "missing"
        elif open_run and _answer(runs[-1][0]) == _answer(row):
            runs[-1].append(row)
        else:
            runs.append([row])
            open_run = True
        last_place = place
    return FoldedTable(
        rows=tuple(FoldedRow(tuple(row.key for row in run), run[0]) for run in runs),
        core_fallbacks=tuple(map(tuple, below["core"])),
        core_fallthroughs=tuple(map(tuple, below["fallthrough"])),
        missing=tuple(map(tuple, below["missing"])),
    )


def unfolded(rows: Sequence[TableRow]) -> FoldedTable:
    """Every slot a row of its own, the missing ones too."""
    return FoldedTable(tuple(FoldedRow((row.key,), row) for row in rows))


def _place_below(row: TableRow, autograd_keys: frozenset[str]) -> str | None:
    if row.live_kernel is not None or row.blockers or row.before is not None:
        return None
    if row.rule is Rule.MISSING:
        return "missing"
    if row.core and row.fallthrough:
        return "fallthrough"
    return "core" if row.core and row.key not in autograd_keys else None


def _answer(row: TableRow) -> Hashable:
    """What must be equal for two rows to be one. PyTorch's own autograd fallbacks differ in their line alone."""
    if row.core:
        return (row.rule, row.fallthrough, bool(row.blockers), row.live_kernel, row.before)
    source = None if row.rule is Rule.KERNEL else row.source
    return (
        row.rule,
        row.number,
        row.kernel,
        row.fallthrough,
        source,
        row.blockers,
        row.span,
        row.live_kernel,
        row.before,
    )
