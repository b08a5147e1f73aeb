"""The report of ``support``: where operators work, and the reasons why they do not."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.report_parts import StartsFrom, starts_from
from dispatch_cli.checks.support_words import help_words, reason_words, resolve_command
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell, Column, Reason, SupportRow, Verdict
from dispatch_cli.engine.support.verdicts import INCOMPLETE
from dispatch_cli.model.calls.support import SupportContext
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span

ORDER = (Verdict.WRONG, Verdict.GRADIENT_LOST, Verdict.RAISES, Verdict.NO_KERNEL, Verdict.NOT_KNOWN)
"""The verdicts of calls that do not work, or may not, the gravest first."""
USUAL = (SupportContext.EAGER, SupportContext.TRAIN, SupportContext.COMPILE)
"""Contexts that most users need."""

MOST_NAMED = 3
"""The operators without a definition for which near names are looked up."""
MOST_OF_A_LIBRARY = 1_000
"""With more operators, files are a copy of PyTorch's state: where a matrix is not asked for, none is made."""


class SupportColumn(NamedTuple):
    """A column. tensor, contexts: those that the user named, where *context* is ``custom``."""

    backend: str
    device: str
    context: SupportContext
    tensor: str | None
    contexts: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its word below the backend."""
        if self.context is not SupportContext.CUSTOM:
            return str(self.context.value)
        return " ".join((*([] if self.tensor is None else [self.tensor]), *self.contexts))


class SupportPlace(NamedTuple):
    """Operators, and the numbers of the columns in which a reason holds for each of them."""

    operators: tuple[OperatorName, ...]
    columns: tuple[int, ...]


class SupportReason(NamedTuple):
    """Reason why calls do not work: one rule, over operators, backends and contexts.

    text: the sentence. cells: how many there are. operators, columns: all that are concerned; columns by number.
    places: which operator in which columns. error: PyTorch's text in the first cell. key, kernel, span: the
    registration that serves or fails its call. kernels: how many kernels serve or fail the calls of all cells.
    command: shows the call of the first cell.
    """

    verdict: Verdict
    reason: Reason
    text: str
    help: str | None
    cells: int
    operators: tuple[OperatorName, ...]
    columns: tuple[int, ...]
    places: tuple[SupportPlace, ...]
    error: str | None
    key: str | None
    kernel: str | None
    span: Span | None
    kernels: int
    command: str | None


@dataclass(frozen=True, slots=True)
class SupportReport(StartsFrom):
    """The support matrix of a state.

    chosen: how many operators were asked for. working: how many of them work in every column that applies to them;
    not_known: of how many others none fails for certain. operators: a row for each, its cells in the order of
    *columns*.
    """

    REPORT: ClassVar[str] = "support"

    chosen: int
    working: int
    not_known: int
    columns: tuple[SupportColumn, ...]
    reasons: tuple[SupportReason, ...]
    operators: tuple[SupportRow, ...]


def support_report(
    state: State, columns: Sequence[Column], rows: Sequence[SupportRow], source: Sequence[str] = ()
) -> SupportReport:
    """The rows of a matrix with their reasons. source: the arguments that load the state.

    Where not all is known of a kernel of an operator, it is not known that a call of it fails.
    """
    start = starts_from(state, (row.operator for row in rows))
    *_, undecided_kernels = start
    undecided = {kernel.operator for kernel in undecided_kernels}
    rows = [
        row._replace(cells=tuple(INCOMPLETE if cell.verdict.fails else cell for cell in row.cells))
        if str(row.operator) in undecided
        else row
        for row in rows
    ]
    known = [row for row in rows if not any(cell.verdict is Verdict.NOT_KNOWN for cell in row.cells)]
    failing = [row for row in rows if any(cell.verdict.fails for cell in row.cells)]
    working = [row for row in known if not any(cell.verdict.fails for cell in row.cells)]
    return SupportReport(
        *start,
        chosen=len(rows),
        working=len(working),
        not_known=len(rows) - len(working) - len(failing),
        columns=tuple(map(_column, columns)),
        reasons=tuple(_reasons(state, rows, columns, source)),
        operators=tuple(rows),
    )


def _column(column: Column) -> SupportColumn:
    tensor = None if column.tensor is None else str(column.tensor)
    return SupportColumn(column.backend, column.device, column.context, tensor, tuple(map(str, column.contexts)))


class _Found(NamedTuple):
    """A cell that does not work, and where it is."""

    operator: OperatorName
    column: int
    cell: Cell


def _reasons(
    state: State, rows: Sequence[SupportRow], columns: Sequence[Column], source: Sequence[str]
) -> list[SupportReason]:
    """The reasons: those about eager, training and compiled calls first, then the gravest, then those of most cells."""
    groups: dict[tuple[Verdict, Reason, str, str | None], list[_Found]] = {}
    for row in rows:
        for at, cell in enumerate(row.cells):
            if cell.reason is not None and not cell.verdict.works:
                error = cell.error if cell.reason is Reason.CALL else None
                words = reason_words(cell) if error is None else _without_names(error, row.operator, columns[at])
                key = (cell.verdict, cell.reason, words, help_words(cell))
                groups.setdefault(key, []).append(_Found(row.operator, at, cell))
    reasons = [_reason(verdict, reason, cells, source) for (verdict, reason, *_), cells in groups.items()]
    reasons = [_with_finding(state, row, source) if row.reason is Reason.NOT_DEFINED else row for row in reasons]

    def rank(reason: SupportReason) -> tuple[bool, int, int]:
        is_unusual = all(columns[at].context not in USUAL for at in reason.columns)
        return is_unusual, ORDER.index(reason.verdict), -reason.cells

    return sorted(reasons, key=rank)


def _with_finding(state: State, reason: SupportReason, source: Sequence[str]) -> SupportReason:
    """The reason with the names that are near, and the command that shows the finding about it."""
    from dispatch_cli.checks.catalogue.dangling_implementation import CHECK, Defined, near_names
    from dispatch_cli.checks.view import View

    defined = Defined(View(state, reason.operators))
    near = "".join(near_names(name, defined) for name in reason.operators[:MOST_NAMED])
    command = shlex.join(("dispatch-cli", "check-invariants", *source, "--select", CHECK.id))
    return reason._replace(help=f"{reason.help}{near}", command=command)


_NAME = re.compile(r"(\w+(?:(?:::|\.)\w+)+(?:\([^)]*\))?)|\w+")
"""An operator in an error, as C++ or Python writes it, perhaps with its arguments; or any other word."""


def _without_names(error: str, operator: OperatorName, column: Column) -> str:
    """An error without what tells cells apart that have one cause: operators, and the backend."""
    names = (operator.name.rpartition("::")[2], column.backend, column.device)
    return _NAME.sub(lambda word: "" if word[1] or word[0] in names else word[0], error)


def _reason(verdict: Verdict, reason: Reason, rows: Sequence[_Found], source: Sequence[str]) -> SupportReason:
    first = next((row for row in rows if row.cell.call is not None), rows[0])
    cell = first.cell
    kernels = {(row.cell.key, row.cell.kernel, row.cell.span) for row in rows if row.cell.kernel is not None}
    return SupportReason(
        verdict=verdict,
        reason=reason,
        text=reason_words(cell),
        help=help_words(cell),
        cells=len(rows),
        operators=tuple(dict.fromkeys(row.operator for row in rows)),
        columns=tuple(sorted({row.column for row in rows})),
        places=tuple(_places(rows)),
        error=cell.error,
        key=cell.key,
        kernel=cell.kernel,
        span=cell.span,
        kernels=len(kernels),
        command=None if cell.call is None else resolve_command(first.operator, cell.call, source),
    )


def _places(rows: Sequence[_Found]) -> Iterator[SupportPlace]:
    """The cells, with the operators together that have the same columns."""
    columns: dict[OperatorName, tuple[int, ...]] = {}
    for row in rows:
        columns[row.operator] = (*columns.get(row.operator, ()), row.column)
    for alike in dict.fromkeys(columns.values()):
        yield SupportPlace(tuple(name for name, some in columns.items() if some == alike), alike)
