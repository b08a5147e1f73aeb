"""The computed table as a grid: functionalities down, backends across, a code per slot, a legend."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table.document import heading, notes, stale_note
from dispatch_cli.answers.table.report import OperatorTable, TableReport
from dispatch_cli.answers.table.wording import BOTH, CHANGED, STALE, mark_of
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import (
    Block,
    Fact,
    Facts,
    Gap,
    Mark,
    Matrix,
    MatrixCell,
    MatrixHead,
    MatrixRow,
    Run,
    Tone,
    legend_of,
)
from dispatch_cli.render.words import rule_tone


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


class Code(NamedTuple):
    """The code of an answer in the grid: its letter, what it means, its tone."""

    letter: str
    meaning: str
    tone: Tone


CODES = {
    Rule.KERNEL: Code("K", "kernel", rule_tone(Rule.KERNEL)),
    Rule.DEFAULT: Code("D", "default backend kernel", rule_tone(Rule.DEFAULT)),
    Rule.NESTED: Code("N", "nested kernel", rule_tone(Rule.NESTED)),
    Rule.AMBIGUOUS: Code("?", "ambiguous autogradother", rule_tone(Rule.AMBIGUOUS)),
    Rule.MATH: Code("M", "math kernel", rule_tone(Rule.MATH)),
    Rule.AUTOGRAD: Code("A", "autograd kernel", rule_tone(Rule.AUTOGRAD)),
    Rule.BATCHED: Code("B", "batched kernel", rule_tone(Rule.BATCHED)),
    Rule.FALLBACK: Code("F", "backend fallback", rule_tone(Rule.FALLBACK)),
    Rule.MISSING: Code(".", "missing", rule_tone(Rule.MISSING)),
    Rule.NOT_KNOWN: Code("U", "not known", rule_tone(Rule.NOT_KNOWN)),
}
CORE_FALLBACK = Code("f", "PyTorch's own fallback", rule_tone(Rule.FALLBACK))
FALLTHROUGH = Code(">", "fallthrough to the next key", Tone.WARN)
_ORDER = [*CODES.values(), CORE_FALLBACK, FALLTHROUGH]
MARKS = {
    STALE: ("stale: the live table holds something else", Tone.BAD),
    CHANGED: ("changed: differs from the base", Tone.WARN),
    BOTH: ("stale and changed", Tone.BAD),
}


def document(report: TableReport, *, universe: Universe) -> Iterator[Block]:
    """Each operator as a grid."""
    for position, table in enumerate(report.operators):
        if position:
            yield Gap()
        yield from heading(table)
        yield from _operator(table, grid_of(table, universe))


def code_of(row: TableRow) -> Code:
    """The code of a slot. A fallthrough is one whatever put it there: the call goes on to the next key."""
    if row.fallthrough:
        return FALLTHROUGH
    return CORE_FALLBACK if row.core_fallback else CODES[row.rule]


def _operator(table: OperatorTable, laid_out: Grid) -> Iterator[Block]:
    """The grid of an operator, and what is to be known of it."""
    if laid_out.lines:
        yield matrix_of(laid_out)
        yield Gap()
    if laid_out.others:
        by_code: dict[tuple[Run, ...], list[TableRow]] = {}
        for row in laid_out.others:
            by_code.setdefault(_code_runs(cell_of(row)), []).append(row)
        facts = [Fact(code, ", ".join(row.key for row in rows), rows) for code, rows in by_code.items()]
        yield Facts(facts, tone=Tone.PLAIN)
        yield Gap()
    yield from _legend(table.entries)
    yield from notes(table)
    yield from stale_note(table)


def matrix_of(laid_out: Grid) -> Matrix:
    """The slots that are per backend."""
    rows = [MatrixRow(label, [*map(cell_of, cells)]) for label, cells in laid_out.lines]
    return Matrix([*map(MatrixHead, laid_out.backends)], rows, explained=())


def before_marks(before: Before | None) -> Sequence[Mark]:
    """The code of what a slot held before, which stands before the other one."""
    if before is None:
        return ()
    code = FALLTHROUGH if before.fallthrough else CODES[before.rule]
    return Mark(code.letter, Tone.DIM), Mark("\N{RIGHTWARDS ARROW}", Tone.DIM)


def cell_of(row: TableRow | None) -> MatrixCell:
    """The code of a slot with its mark; it opens the slot."""
    if row is None:
        return MatrixCell()
    code, mark = code_of(row), mark_of(row)
    marks = [Mark(code.letter, code.tone, code.meaning)]
    marks = [*before_marks(row.before), *marks]
    marks += [Mark(mark, MARKS[mark][1], MARKS[mark][0])] if mark else []
    return MatrixCell(tuple(marks), f"{row.key}: {', '.join(mark.meaning for mark in marks if mark.meaning)}", row)


def _code_runs(cell: MatrixCell) -> tuple[Run, ...]:
    return tuple(Run(mark.text, mark.tone) for mark in cell.marks)


def _legend(rows: Sequence[TableRow]) -> Iterator[Block]:
    """The codes and marks that are used."""
    used = {mark.text for row in rows for mark in cell_of(row).marks}
    codes = [Mark(code.letter, code.tone, code.meaning) for code in _ORDER]
    marks = [Mark(mark, tone, meaning) for mark, (meaning, tone) in MARKS.items()]
    return legend_of(Matrix((), (), explained=[mark for mark in (*codes, *marks) if mark.text in used]))
