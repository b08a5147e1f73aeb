"""An operator's table as a grid of cells, each of which leads to its slot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dispatch_cli.answers.shared.slot_row import Before, TableRow
from dispatch_cli.answers.table import document as table
from dispatch_cli.answers.table import grid_document as grid
from dispatch_cli.answers.table.grid import grid_of
from dispatch_cli.answers.table.report import OperatorTable
from dispatch_cli.explore.catalogue import TRIED
from dispatch_cli.explore.cells_view import ShownKeys, ShownSlots, Target
from dispatch_cli.explore.table_rows import heading, lines_of, meaning_of_marks
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Mark, MatrixCell, Run, Tone
from dispatch_cli.render.text_lines import TextLine, line_width
from dispatch_cli.render.text_matrix import TextMatrix
from dispatch_cli.render.text_safety import safe

_GAP = 2


def grid_cells(shown: OperatorTable, universe: Universe, tried: Mapping[str, Before], width: int) -> ShownSlots:
    """An operator's table as a grid, then the slots that are not per backend, and what the codes mean."""
    grid_lines = _GridLines(tried, width)
    laid_out = grid_of(shown, universe)
    if laid_out.lines:
        matrix = TextMatrix(grid.matrix_of(laid_out, grid_lines.cell), width)
        grid_lines.lines = [*lines_of(matrix.blocks(), width), []]
        grid_lines.targets = [
            Target(ShownKeys((cell.target.key,), cell.target), line, line + 1, x, cell_width)
            for cell, line, x, cell_width in matrix.cells
            if isinstance(cell.target, TableRow)
        ]
    grid_lines.others(laid_out.others)
    after = (*grid.legend(shown.entries), *meaning_of_tried(shown, tried))
    grid_lines.lines += lines_of((*after, *table.notes(shown), *table.stale_note(shown)), width)
    top = [line for line in lines_of(heading(shown), width) if line]
    return ShownSlots(grid_lines.lines, grid_lines.targets, top)


def meaning_of_tried(shown: OperatorTable, tried: Mapping[str, Before]) -> Iterator[Block]:
    """Meaning of the mark of the trial; the legend has the other marks."""
    return meaning_of_marks([row._replace(before=None, stale=False) for row in shown.entries], tried)


class _GridLines:
    """Lines and targets, as they are made."""

    def __init__(self, tried: Mapping[str, Before], width: int) -> None:
        self._tried = tried
        self._width = width
        self.lines: list[TextLine] = []
        self.targets: list[Target] = []

    def cell(self, row: TableRow | None) -> MatrixCell:
        """The code of a slot with its marks; of one that a change on trial changed, that of before, too."""
        tried = None if row is None else self._tried.get(row.key)
        if row is None or tried is None:
            return grid.cell_of(row)
        code = grid.cell_of(row._replace(before=None))
        return code._replace(target=row, marks=(*grid.before_marks(tried), *code.marks, Mark(TRIED, Tone.WARN)))

    def others(self, rows: tuple[TableRow, ...]) -> None:
        """The slots that are not per backend, in as many columns as there is room for, down and then across."""
        if not rows:
            return
        codes = [[Run(mark.text, mark.tone) for mark in self.cell(row).marks] for row in rows]
        room = max(map(line_width, codes)) + 1
        names = [safe(row.key) for row in rows]
        wide = room + max(map(len, names))
        columns = max(1, (self._width + _GAP) // (wide + _GAP))
        height = -(-len(rows) // columns)
        for y in range(height):
            line: TextLine = []
            for column in range(columns):
                at = column * height + y
                if at < len(rows):
                    code, name = codes[at], names[at]
                    used = line_width(code)
                    x = column * (wide + _GAP)
                    here = len(self.lines)
                    place = ShownKeys((rows[at].key,), rows[at])
                    self.targets.append(Target(place, here, here + 1, x, room + len(name)))
                    line += [*code, Run(" " * (room - used)), Run(name)]
                    line.append(Run(" " * (wide + _GAP - room - len(name))))
            self.lines.append(line)
        self.lines.append([])
