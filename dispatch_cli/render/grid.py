"""The computed table as a grid for people: a code per slot, and a legend of the codes that are used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import Universe
from dispatch_cli.render import console
from dispatch_cli.render.backend_grid import BackendGrid
from dispatch_cli.render.console import Rows, plain, to_text
from dispatch_cli.render.style import Style
from dispatch_cli.render.table import RULE_STYLES, heading, notes, stale_note
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import short_kernel
from dispatch_cli.report.grid import Grid, grid_of
from dispatch_cli.report.table import OperatorTable, TableReport, TableRow

STALE, CHANGED, BOTH = "!", "*", "#"
"""Marks behind a code."""
MAX_KERNELS = 3
"""Kernels that the legend names for one code."""
_GAP = 2


@dataclass(frozen=True, slots=True)
class Code:
    """What stands in the grid for an answer: its letter, what it means, its colour."""

    letter: str
    meaning: str
    color: str


_CODES = {
    Rule.KERNEL: Code("K", "kernel", RULE_STYLES[Rule.KERNEL]),
    Rule.DEFAULT: Code("D", "default backend kernel", RULE_STYLES[Rule.DEFAULT]),
    Rule.NESTED: Code("N", "nested kernel", RULE_STYLES[Rule.NESTED]),
    Rule.AMBIGUOUS: Code("?", "ambiguous autogradother", RULE_STYLES[Rule.AMBIGUOUS]),
    Rule.MATH: Code("M", "math kernel", RULE_STYLES[Rule.MATH]),
    Rule.AUTOGRAD: Code("A", "autograd kernel", RULE_STYLES[Rule.AUTOGRAD]),
    Rule.BATCHED: Code("B", "batched kernel", RULE_STYLES[Rule.BATCHED]),
    Rule.FALLBACK: Code("F", "backend fallback", RULE_STYLES[Rule.FALLBACK]),
    Rule.MISSING: Code(".", "missing", RULE_STYLES[Rule.MISSING]),
}
_CORE_FALLBACK = Code("f", "PyTorch's own fallback", RULE_STYLES[Rule.FALLBACK])
_FALLTHROUGH = Code(">", "fallthrough to the next key", console.WARN)
_ORDER = [*_CODES.values(), _CORE_FALLBACK, _FALLTHROUGH]
_MARKS = {
    STALE: ("stale: the live table holds something else", console.BAD),
    CHANGED: ("changed: differs from the base", console.WARN),
    BOTH: ("stale and changed", console.BAD),
}


def grids_text(report: TableReport, style: Style, universe: Universe) -> Iterator[str]:
    """Each operator as a grid."""
    for position, table in enumerate(report.tables()):
        lead = ["\n"] if position else []
        yield "".join([*lead, to_text(_operator(table, grid_of(table, universe), style), style)])


def code_of(row: TableRow) -> Code:
    """The code of a slot. A fallthrough is one whatever put it there: the call goes on to the next key."""
    if row.fallthrough:
        return _FALLTHROUGH
    return _CORE_FALLBACK if row.core else _CODES[row.rule]


def _mark(row: TableRow) -> str:
    if row.live_kernel is None:
        return "" if row.before is None else CHANGED
    return STALE if row.before is None else BOTH


def _operator(table: OperatorTable, laid_out: Grid, style: Style) -> Iterator[RenderableType]:
    yield from heading(table)
    grid = BackendGrid(laid_out.backends, [(line.label, [*map(_cell, line.cells)]) for line in laid_out.lines], style)
    yield from grid.blocks()
    if laid_out.others:
        yield from _others(laid_out.others, style)
        yield Text()
    yield from _legend(table.rows, style)
    yield from grid.abbreviations()
    yield from notes(table)
    yield from stale_note(table)


def _cell(row: TableRow | None) -> Text:
    if row is None:
        return Text()
    code, mark = code_of(row), _mark(row)
    return Text.assemble((code.letter, code.color), (mark, _MARKS[mark][1] if mark else ""))


# the keys that are not per backend


def _others(rows: Sequence[TableRow], style: Style) -> Iterator[RenderableType]:
    """A line for each run of keys with the same code, in table order."""
    for (_, mark), run in groupby(rows, key=lambda row: (code_of(row).letter, _mark(row))):
        shown = list(run)
        names = ", ".join(safe(row.key) for row in shown)
        code = _cell(shown[0])
        code.append(" " * (_GAP + 1 - len(mark)))
        if style.width is None:
            code.append(names)
            yield code
        else:
            line = Table.grid(padding=0)
            line.add_row(code, Text(names, overflow="fold"))
            yield line


# the legend


def _legend(rows: Sequence[TableRow], style: Style) -> Iterator[RenderableType]:
    """The codes and marks that are used: what each means, how many slots have it, and their kernels."""
    table = Rows(["Code", "Meaning", "Slots", "Kernels"])
    for code in _ORDER:
        having = [row for row in rows if code_of(row) == code]
        if having:
            kernels = "" if code in (_CORE_FALLBACK, _CODES[Rule.AMBIGUOUS]) else _kernels(having, style)
            table.add_row(Text(code.letter, code.color), Text(code.meaning), Text(str(len(having))), plain(kernels))
    for mark, (meaning, color) in _MARKS.items():
        count = sum(_mark(row) == mark for row in rows)
        if count:
            table.add_row(Text(mark, color), Text(meaning), Text(str(count)), Text())
    yield table


def _kernels(rows: Sequence[TableRow], style: Style) -> str:
    found = dict.fromkeys("PyTorch's own" if row.core else row.kernel for row in rows if row.kernel is not None)
    names = [short_kernel(kernel) if style.width is not None else kernel for kernel in found if kernel is not None]
    more = len(names) - MAX_KERNELS
    return ", ".join(names[:MAX_KERNELS]) + (f" and {more} more" if more > 0 else "")
