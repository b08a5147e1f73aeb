"""The support matrix of the operators of the files, as the page draws it."""

from __future__ import annotations

from typing import Any

from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReason, SupportReport, support_report
from dispatch_cli.answers.support.wording import ASSUMED, MARKS, cell_words, columns_label, counts, verdict_sentence
from dispatch_cli.checks.support_words import help_words
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of


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
        "rows": [[str(row.operator), *(answers.made(cell, _cell) for cell in row.cells)] for row in report.operators],
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
