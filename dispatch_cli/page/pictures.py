"""Blocks that the page draws: matrices as data, so that each name in them is set as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dispatch_cli.render.document import Block, Mark, Matrix, MatrixCell, Paragraph, runs_of, title_of


def headed_matrices(blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    """The matrices of a document, each with the head that stands above it."""
    head = ""
    for block in blocks:
        if isinstance(block, Matrix):
            yield {"head": head, **matrix_data(block)}
            head = ""
        elif isinstance(block, Paragraph):
            head = "".join(run.text for run in runs_of(block.inline))


def matrix_data(matrix: Matrix) -> dict[str, Any]:
    """heads: a name and a group each. rows: a label, then the cells: marks, title and target.

    legend: the marks that are explained. A mark: its text, tone and meaning.
    """
    return {
        "corner": matrix.corner,
        "heads": [[head.name, head.group] for head in matrix.heads],
        "rows": [[row.label, *map(_cell, row.cells)] for row in matrix.rows],
        "legend": [*map(_mark, matrix.legend)],
    }


def _cell(cell: MatrixCell) -> list[Any]:
    return [[*map(_mark, cell.marks)], title_of(cell), cell.target]


def _mark(mark: Mark) -> list[str]:
    return [mark.text, mark.tone.value, mark.meaning]
