"""An operator's table as a grid: functionalities down, backends across, and the keys that are not per backend."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.report import OperatorTable
from dispatch_cli.model.universe import Universe


class GridLine(NamedTuple):
    """One functionality: its name, and a slot per backend of the grid; None where the key filter left it out."""

    label: str
    cells: tuple[TableRow | None, ...]


class Grid(NamedTuple):
    """A table laid out: the backends across, a line per functionality, and the other slots in table order.

    Backends and functionalities without a slot in the table are left out.
    """

    backends: tuple[str, ...]
    lines: tuple[GridLine, ...]
    others: tuple[TableRow, ...]


def grid_of(table: OperatorTable, universe: Universe) -> Grid:
    """Lay out the rows of a table of *universe*."""
    rows = {row.key: row for row in table.entries}
    columns = [
        position
        for position in range(len(universe.backends))
        if any(keys[position] in rows for keys in universe.per_backend.values())
    ]
    lines = tuple(
        GridLine(
            _label(functionality, universe.per_backend[functionality], universe),
            tuple(rows.get(universe.per_backend[functionality][position]) for position in columns),
        )
        for functionality in sorted(universe.per_backend, key=universe.functionalities.index)
        if any(key in rows for key in universe.per_backend[functionality])
    )
    per_backend = {key for keys in universe.per_backend.values() for key in keys}
    others = tuple(row for row in table.entries if row.key not in per_backend)
    return Grid(tuple(universe.backends[position] for position in columns), lines, others)


def _label(functionality: str, keys: tuple[str, ...], universe: Universe) -> str:
    """Common start of its keys, before the backend's name; the functionality's own name where there is none."""
    return keys[0].removesuffix(universe.backends[0]) or functionality
