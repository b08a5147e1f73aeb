"""The data of the index of all versions: what ``history`` draws and says of the operators that changed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dispatch_cli import __version__
from dispatch_cli.answers.history.document import history_matrix
from dispatch_cli.answers.history.report import HistoryReport, OperatorHistory
from dispatch_cli.answers.history.rows_document import merged_rows
from dispatch_cli.answers.history.wording import renamed, short, there
from dispatch_cli.page.pool import Pool
from dispatch_cli.page.words import unsafe
from dispatch_cli.render.document import Mark, MatrixCell
from dispatch_cli.render.words import plural


def versions_data(report: HistoryReport, pages: Sequence[str]) -> dict[str, Any]:
    """The matrix of the operators that changed, and what changed in each. pages: the file of each version.

    cells: marks, words, and whether the version has the operator. rows: the operator, and a cell for each version.
    texts: those of the changes, which name them by number.
    """
    changed = tuple(operator for operator in report.operators if operator.changes)
    matrix = history_matrix(replace(report, operators=changed))
    marks, cells, texts = Pool(), Pool(), Pool()

    def shown(cell: MatrixCell) -> Any:
        return [[marks.build(mark, _mark) for mark in cell.marks], cell.title, cell.target is not None]

    rows = [
        [row.label, *(cells.build(cell._replace(target=cell.target and True), shown) for cell in row.cells)]
        for row in matrix.rows
    ]
    names = [short(version.name) for version in report.versions]
    return {
        "about": {"dispatch_cli": __version__},
        "words": {"unsafe": unsafe()},
        "title": f"Operators of PyTorch {names[0]} to {names[-1]}",
        "counts": f"{len(changed):,} of {plural(len(report.operators), 'operator')} changed between these versions; "
        "the others are in every page, and the same in each.",
        "versions": [
            [name, version.torch, page] for name, version, page in zip(names, report.versions, pages, strict=True)
        ],
        "rows": rows,
        "changes": [_changes(report, operator, texts) for operator in changed],
        # what the parts above have in common comes last
        "cells": cells.values,
        "marks": marks.values,
        "texts": texts.values,
    }


def _mark(mark: Mark) -> list[str]:
    return [mark.text, mark.tone.value, mark.meaning]


def _changes(report: HistoryReport, operator: OperatorHistory, texts: Pool) -> list[Any]:
    """Sentences on the operator, and the rows of ``history`` without its name: five texts behind the version."""
    rows: list[list[Any]] = []
    for row in merged_rows(operator):
        version = row.version or rows[-1][0]
        rows.append([version, *map(texts.add, row[2:])])
    return [[texts.add(sentence) for sentence in (there(report, operator), *renamed(operator))], rows]
