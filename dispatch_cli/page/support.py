"""The support matrix of the operators of the files, as the page draws it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from dispatch_cli.answers.resolve.call_request import CallRequest, call_report, read_call
from dispatch_cli.answers.resolve.picture_document import picture
from dispatch_cli.answers.shared.listing import some_of
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReason, SupportReport, support_report
from dispatch_cli.answers.support.wording import ASSUMED, MARKS, cell_words, columns_label, counts, verdict_sentence
from dispatch_cli.checks.support_words import help_words
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.options import NO_OPTIONS
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.data import data_of
from dispatch_cli.render.svg import drawn

MOST_DRAWN = 300
"""Calls that are drawn; each takes some thousandths of a second."""


def support_data(state: State) -> dict[str, Any] | None:
    """heads: backend and context of each column. rows: an operator, then the numbers of its cells in *answers*.

    drawn: pictures of calls by column and operator, of those that fail first.
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
        "drawn": dict(islice(_drawn(state, report), MOST_DRAWN)),
        "reasons": [_reason(reason, report) for reason in report.reasons],
    }


def _drawn(state: State, report: SupportReport) -> Iterator[tuple[str, str]]:
    """The place of a cell, as in an address, and its call as SVG."""
    cells = [(row.operator, at, cell) for row in report.operators for at, cell in enumerate(row.cells)]
    for operator, at, cell in sorted(cells, key=lambda place: not place[2].verdict.fails):
        if cell.call is not None:
            options = NO_OPTIONS._replace(**dict(text.split("=", 1) for text in cell.call.arguments))
            asked = CallRequest(str(operator), cell.call.tensors, options, None, cell.call.contexts)
            (path,) = picture(call_report(state, asked, read_call(state, asked)))
            yield f"{at},{operator}", drawn(path)


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
