"""Documents as data that the page shows, so that each name in them is set as text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from dispatch_cli.render.document import (
    Block,
    Facts,
    Inline,
    Mark,
    Matrix,
    Paragraph,
    TableBlock,
    Tone,
    cells_of,
    lines_of,
    runs_of,
    title_of,
)
from dispatch_cli.render.printed import safe

Address = Callable[[Any], str]
"""Address in the page that the target of a cell leads to."""


def written_blocks(blocks: Iterable[Block], address: Address | None = None) -> Iterator[Any]:
    """Blocks as lists, each with its kind first.

    A paragraph has its text. Facts have pairs of label and text. A table has heads, each a text and whether its cells
    stand to the right, and rows, whose cells are texts or have a text and a tone. A matrix has its data.
    """
    for block in blocks:
        if isinstance(block, Paragraph):
            yield block.kind.value, _text(block.inline)
        elif isinstance(block, Facts):
            yield "facts", [[_text(row.label), _text(row.inline)] for row in block.rows]
        elif isinstance(block, TableBlock):
            shown = cells_of(block)
            heads = [[column.header, column.right] for column in shown.columns]
            yield "table", heads, [[*map(_toned, row)] for row in shown.rows]
        elif isinstance(block, Matrix):
            yield "matrix", _matrix(block, address)


def _text(inline: Inline) -> str:
    """A text with its lines; a line break in a run is none of them."""
    return "\n".join("".join(safe(run.text) for run in line) for line in lines_of(inline))


def _toned(inline: Inline) -> Any:
    runs = runs_of(inline)
    return [_text(inline), runs[0].tone.value] if len(runs) == 1 and runs[0].tone is not Tone.PLAIN else _text(inline)


def _matrix(matrix: Matrix, address: Address | None) -> dict[str, Any]:
    """heads: a name and a group each. rows: a label, then the cells: marks, title and address.

    legend: the marks that are explained. A mark: its text, tone and meaning.
    """
    return {
        "corner": matrix.corner,
        "heads": [[head.name, head.group] for head in matrix.heads],
        "rows": [
            [
                row.label,
                *([[*map(_mark, cell.marks)], title_of(cell), address and address(cell.target)] for cell in row.cells),
            ]
            for row in matrix.rows
        ],
        "legend": [*map(_mark, matrix.legend)],
    }


def _mark(mark: Mark) -> list[str]:
    return [mark.text, mark.tone.value, mark.meaning]
