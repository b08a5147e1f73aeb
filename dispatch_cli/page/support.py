"""Calls with which the operators of a library work."""

from __future__ import annotations

from functools import partial
from typing import Any
from urllib.parse import quote

from dispatch_cli.answers.support.document import call_blocks, cell_title
from dispatch_cli.answers.support.document import document as support_document
from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, SupportReport, support_report
from dispatch_cli.checks.support_words import call_options
from dispatch_cli.engine.state import State
from dispatch_cli.engine.support.cell import Cell
from dispatch_cli.engine.support.columns import support_columns
from dispatch_cli.engine.support.verdicts import support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.page.blocks import written_blocks
from dispatch_cli.page.commands import words_text
from dispatch_cli.page.pool import Pool
from dispatch_cli.render.printed import safe


def support_data(state: State) -> dict[str, Any] | None:
    """blocks: the document of ``support``, whose cells lead to calls. calls: for each its title, its operator, and a
    number of *answers*, which have the options of ``resolve`` and the facts.

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
    blocks = [*written_blocks(support_document(report, full=True), _support_address)]
    return {"blocks": blocks, "calls": calls, "answers": answers.values}


def _support_address(target: tuple[OperatorName, int, Cell]) -> str:
    operator, at, _ = target
    return f"#!support/{at},{quote(safe(str(operator)), safe=':')}"


def _call(report: SupportReport, cell: Cell) -> Any:
    _, *facts = call_blocks(report, report.operators[0].operator, 0, cell)  # the first block is the title
    options = None if cell.call is None else words_text(call_options(cell.call))
    return {"options": options, "blocks": [*written_blocks(facts)]}
