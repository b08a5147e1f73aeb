"""Data of two pictures: what serves the operators on each backend, and where those of the files work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Any

from dispatch_cli.answers.coverage.counts import OperatorClasses, coverage_counts
from dispatch_cli.answers.coverage.document import served_blocks
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import matrices, meaning, title
from dispatch_cli.answers.coverage.report import groups_of
from dispatch_cli.answers.coverage.wording import served_by, served_share, service_words, training_words
from dispatch_cli.answers.support.document import call_blocks, cell_title
from dispatch_cli.answers.support.document import document as support_document
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReport, support_report
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.engine.coverage.answers import Covered, CoveredBackend
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import headed_matrices, written_blocks
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of
from dispatch_cli.render.document import Matrix, MatrixRow
from dispatch_cli.render.words import not_built_sentence


def coverage_data(state: State, names: Sequence[OperatorName]) -> dict[str, Any]:
    """class, groups: of each operator. backends: of each the counts, and the answer for each class.

    overview: the matrices of groups on backends, each with its head.
    """
    classes, answers, groups = OperatorClasses(state, names), Pool(), Pool()
    report = overview_report(state, names, classes=classes)
    return {
        "class": classes.numbers,
        "groups": [groups.add(tuple(groups_of(state, name))) for name in names],
        "group_lists": groups.values,
        "backends": [_backend(state, backend, classes, answers) for backend in classes.backends],
        "answers": answers.values,
        "overview": {
            "title": f"{title(report)}. {meaning(report)}",
            "matrices": [*headed_matrices(matrices(report, most=None))],
        },
    }


def _backend(state: State, backend: CoveredBackend, classes: OperatorClasses, answers: Pool) -> dict[str, Any]:
    kinds, answered = classes.answers(backend), Counter[Covered]()
    for number, operators in classes.sizes.items():
        answered[kinds[number]] += operators
    sums = coverage_counts(answered)
    overlay = overlay_of(state.dispatcher, backend.key)
    return {
        "backend": data_of(backend),
        "counts": data_of(sums),
        "share": served_share(sums),
        "served_by": served_by(sums),
        "tables": [*written_blocks(served_blocks(sums, backend.key))],
        "not_built": None if overlay is None else not_built_sentence(backend.key, overlay),
        "answers": [answers.build(kind, _covered) for kind in kinds],
    }


def _covered(kind: Covered) -> Any:
    """words: what serves an operator, and how it trains."""
    service = service_words(kind.service, kind.source, kind.lack, kind.otherwise)
    return {
        "service": kind.service.value,
        "slot": kind.slot,
        "rule": kind.rule.value,
        "source": kind.source,
        "words": [service, training_words(kind.training, kind.gradient)],
    }


def support_data(state: State) -> dict[str, Any] | None:
    """blocks: the document of ``support``, whose cells lead to calls. calls: for each its title and a number of
    *answers*, which have the call and its facts.

    None where the files have no operators, or too many.
    """
    names = state.own_operators()
    if not 0 < len(names) <= MOST_OF_A_LIBRARY:
        return None
    columns = support_columns(state, names)
    report = support_report(state, columns, [*support_rows(state, names, columns)])
    answers, calls = Pool(), {}
    for row in report.operators:
        for at, (column, cell) in enumerate(zip(report.columns, row.cells, strict=True)):
            number = answers.build(cell, partial(_call, report))
            calls[f"{at},{row.operator}"] = [cell_title(row.operator, column, cell), str(row.operator), number]
    blocks = [
        _with_links(block) if isinstance(block, Matrix) else block for block in support_document(report, full=True)
    ]
    return {"blocks": [*written_blocks(blocks)], "calls": calls, "answers": answers.values}


def _call(report: SupportReport, cell: Cell) -> Any:
    _, *facts = call_blocks(report, report.operators[0].operator, 0, cell)  # the first block is the title
    return {"call": data_of(cell.call), "blocks": [*written_blocks(facts)]}


def _with_links(matrix: Matrix) -> Matrix:
    """The matrix; its cells lead to addresses of the page."""
    rows = []
    for label, cells in matrix.rows:
        linked = [cell._replace(target=("support", f"{at},{label}")) for at, cell in enumerate(cells)]
        rows.append(MatrixRow(label, linked))
    return matrix._replace(rows=rows)
