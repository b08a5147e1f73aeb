"""Documents as data that the page shows, so that each name in them is set as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dispatch_cli.render.document import (
    Block,
    Facts,
    Inline,
    Mark,
    Matrix,
    MatrixCell,
    Paragraph,
    TableBlock,
    cells_of,
    lines_of,
    title_of,
)


def headed_matrices(blocks: Iterable[Block]) -> Iterator[dict[str, Any]]:
    """The matrices of a document, each with the head that stands above it."""
    head = ""
    for block in blocks:
        if isinstance(block, Matrix):
            yield {"head": head, **matrix_data(block)}
            head = ""
        elif isinstance(block, Paragraph):
            head = _text(block.inline)


def written_blocks(blocks: Iterable[Block]) -> Iterator[Any]:
    """Blocks as lists, each with its kind first.

    A paragraph has its text. Facts have pairs of label and text. A table has heads, each a text and whether its cells
    stand to the right, and rows. A matrix has its data.
    """
    for block in blocks:
        if isinstance(block, Paragraph):
            yield block.kind.value, _text(block.inline)
        elif isinstance(block, Facts):
            yield "facts", [[_text(row.label), _text(row.inline)] for row in block.rows]
        elif isinstance(block, TableBlock):
            shown = cells_of(block)
            heads = [[column.header, column.right] for column in shown.columns]
            yield "table", heads, [[*map(_text, row)] for row in shown.rows]
        elif isinstance(block, Matrix):
            yield "matrix", matrix_data(block)


def _text(inline: Inline) -> str:
    return "\n".join("".join(run.text for run in line) for line in lines_of(inline))


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
    target = cell.target if isinstance(cell.target, tuple) else None  # others are for explore
    return [[*map(_mark, cell.marks)], title_of(cell), target]


def _mark(mark: Mark) -> list[str]:
    return [mark.text, mark.tone.value, mark.meaning]
