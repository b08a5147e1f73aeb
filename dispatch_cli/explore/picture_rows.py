"""Documents with matrices as lines: each cell that has a target is a place for the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.explore.cells_view import ShownKeys, ShownSlots, Target
from dispatch_cli.explore.table_rows import lines_of
from dispatch_cli.render.document import Block, Matrix
from dispatch_cli.render.text_lines import TextLine
from dispatch_cli.render.text_matrix import TextMatrix


def picture_rows(blocks: Iterable[Block], width: int, top: Sequence[TextLine] = ()) -> ShownSlots:
    """Blocks below lines that stay. A place has the cell, and for its key the first part of the cell's target."""
    lines: list[TextLine] = []
    targets: list[Target] = []
    for block in blocks:
        if isinstance(block, Matrix):
            matrix = TextMatrix(block, width)
            for cell, line, x, cell_width in matrix.cells:
                if isinstance(cell.target, tuple):
                    at = len(lines) + line
                    targets.append(Target(ShownKeys((str(cell.target[0]),), cell), at, at + 1, x, cell_width))
            lines += lines_of(matrix.blocks(), width)
        else:
            lines += lines_of([block], width)
    return ShownSlots(lines, targets, top)
