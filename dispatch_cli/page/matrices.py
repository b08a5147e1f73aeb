"""Data of two pictures: what serves the operators on each backend, and where those of the files work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from dispatch_cli.answers.coverage.counts import OperatorClasses, coverage_counts
from dispatch_cli.answers.coverage.document import served_blocks
from dispatch_cli.answers.coverage.overview import overview_report
from dispatch_cli.answers.coverage.overview_document import matrices, meaning, title
from dispatch_cli.answers.coverage.report import groups_of
from dispatch_cli.answers.coverage.wording import served_by, served_share, service_words, training_words
from dispatch_cli.answers.shared.selection import some_of
from dispatch_cli.answers.support.document import ASSUMED, MARKS, cell_words, columns_label, counts, verdict_sentence
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReason, SupportReport, support_report
from dispatch_cli.answers.table.slot_notes import overlay_of
from dispatch_cli.checks.support_words import help_words
from dispatch_cli.engine.coverage.answers import Covered, CoveredBackend
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import headed_matrices, written_blocks
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of
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
            "matrices": [*headed_matrices(matrices(report, in_viewer=True))],
        },
    }


def _backend(state: State, backend: CoveredBackend, classes: OperatorClasses, answers: Pool) -> dict[str, Any]:
    numbers, kinds = classes.answers(backend)
    sizes, answered = Counter[int](), Counter[Covered]()
    for number, operators in classes.sizes.items():
        sizes[numbers[number]] += operators
    for number, operators in sizes.items():
        answered[kinds[number]] += operators
    places = [answers.build(kind, _covered) for kind in kinds]
    sums = coverage_counts(answered)
    overlay = overlay_of(state.dispatcher, backend.key)
    return {
        "backend": data_of(backend),
        "counts": data_of(sums),
        "share": served_share(sums),
        "served_by": served_by(sums),
        "tables": [*written_blocks(served_blocks(sums, backend.key))],
        "overlay": overlay,
        "not_built": None if overlay is None else not_built_sentence(backend.key, overlay),
        "answers": [places[number] for number in numbers],
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
    """heads: backend and context of each column. rows: an operator, then the numbers of its cells in *answers*.

    None where the files have no operators, or too many.
    """
    names = state.own_operators()
    if not 0 < len(names) <= MOST_OF_A_LIBRARY:
        return None
    columns = support_columns(state, names)
    report = support_report(state, columns, [*support_rows(state, names, columns)])
    answers, used = Pool(), {cell.verdict for row in report.operators for cell in row.cells}
    return {
        "verdict": verdict_sentence(report),
        "counts": "; ".join(counts(report)),
        "assumed": ASSUMED,
        "heads": [[column.backend, column.name] for column in report.columns],
        "marks": {
            verdict.value: [mark.text, mark.tone.value, mark.meaning]
            for verdict, mark in MARKS.items()
            if verdict in used
        },
        "rows": [[str(row.operator), *(answers.build(cell, _cell) for cell in row.cells)] for row in report.operators],
        "answers": answers.values,
        "reasons": [_reason(reason, report) for reason in report.reasons],
    }


def _cell(cell: Cell) -> Any:
    return data_of(cell) | {"words": cell_words(cell), "help": help_words(cell)}


def _reason(reason: SupportReason, report: SupportReport) -> dict[str, Any]:
    names = [str(name) for name in reason.operators]
    return {
        "verdict": reason.verdict.value,
        "text": reason.text,
        "operators": some_of(names),
        "count": len(names),
        "columns": columns_label([report.columns[at] for at in reason.columns], report.columns),
        "help": reason.help,
    }
