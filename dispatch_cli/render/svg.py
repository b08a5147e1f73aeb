"""Pictures of a document as SVG: one file, which loads nothing and runs nothing, in light and in dark surroundings.

A reader has the title of each cell where the pointer is; all text is text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from dispatch_cli.render.document import (
    HEADS,
    Block,
    DrawnPath,
    Mark,
    Matrix,
    Paragraph,
    ParagraphKind,
    runs_of,
    title_of,
)
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_lines import width_of

LIGHT = {
    "text": "#1f2328",
    "page": "#fff",
    "line": "#d1d9e0",
    "stripe": "#f6f8fa",
    "kernel": "#116329",
    "alias": "#1b6c8a",
    "fallback": "#0550ae",
    "warn": "#855000",
    "bad": "#b31d28",
    "dim": "#59636e",
}
DARK = {
    "text": "#e6edf3",
    "page": "#0d1117",
    "line": "#30363d",
    "stripe": "#161b22",
    "kernel": "#56d364",
    "alias": "#76d9e6",
    "fallback": "#79c0ff",
    "warn": "#e3b341",
    "bad": "#ff8a80",
    "dim": "#9198a1",
}
"""The colours of tones where there are no terminal's: in light and in dark surroundings."""
SIGN, LINE, CELL, EDGE = 7.4, 20, 26, 12
"""The width of a character, the height of a line, the least width of a cell, and the room at the edges."""
ROW, LANE = 26, 14
"""The height of a row of a drawn path, and the width that an arrow takes."""
MAX_LABEL = 60
"""Characters of a label that are shown; its title has all."""
MAX_HEADING = 200
"""Characters of a heading that are shown; it has the width of the picture, which it can make wider."""
_STYLE = "text { font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace } .head { font-weight: 600 }"


class Shapes:
    """The shapes of a picture, as they are drawn from the top. bottom, right: how far they go."""

    def __init__(self) -> None:
        self.elements: list[str] = []
        self.bottom: float = EDGE
        self.right: float = 0

    def text(self, x: float, y: float, text: str, look: str = "text", more: str = "", most: int = MAX_LABEL) -> None:
        """A text that begins at a place; one of more characters than *most* is cut, and has a title then."""
        shown = _shortened(text, most)
        title = f"<title>{escaped(text)}</title>" if shown != text else ""
        self.elements.append(f'<text x="{x:g}" y="{y:g}" class="{look}"{more}>{title}{escaped(shown)}</text>\n')
        if not more:
            self.right = max(self.right, x + SIGN * width_of(safe(shown)))

    def heading(self, text: str) -> str:
        """A heading, if there is one; there is none left then."""
        if text:
            self.bottom += LINE
            self.text(EDGE, self.bottom, text, "text head", most=MAX_HEADING)
        return ""

    def box(self, x: float, y: float, width: float, marks: Iterable[Mark], title: str) -> None:
        """A cell: its marks on a ground in the colour of the first."""
        marks = tuple(marks)
        tone = marks[0].tone.value if marks else "plain"
        text = "".join(f'<tspan class="{mark.tone.value}">{escaped(mark.text)}</tspan>' for mark in marks)
        self.elements.append(
            f"<g><title>{escaped(title)}</title>"
            f'<rect x="{x:g}" y="{y:g}" width="{width - 2:g}" height="{LINE - 2}" rx="3" class="ground {tone}"/>'
            f'<text x="{x + width / 2 - 1:g}" y="{y + LINE - 6:g}" text-anchor="middle">{text}</text></g>\n'
        )
        self.right = max(self.right, x + width)


def _shortened(text: str, most: int) -> str:
    """A label that is not too long: of a file at its end the name alone, then both ends."""
    if len(text) > most:
        words, blank, file = text.rpartition(" ")
        text = f"{words}{blank}…/{file.rpartition('/')[2]}" if "/" in file else text
    return text if len(text) <= most else f"{text[: most // 2]}…{text[-most // 2 :]}"


def svg(blocks: Iterable[Block | DrawnPath], title: str) -> Iterator[str]:
    """The titles and the pictures among the blocks, and above a picture the head of its section.

    title: where the blocks have none.
    """
    shapes, titles, section = Shapes(), [], ""
    for block in blocks:
        if isinstance(block, Paragraph) and block.kind in HEADS:
            section = "".join(run.text for run in runs_of(block.inline))
            if block.kind is ParagraphKind.TITLE:
                titles.append(section)
                section = shapes.heading(section)
        elif isinstance(block, Matrix):
            section = shapes.heading(section)
            _matrix(block, shapes)
        elif isinstance(block, DrawnPath):
            titles.append(block.words)
            shapes.heading(block.title)
            _path(block, shapes)
    yield (
        f"{_opening(shapes, ', '.join(titles) or title)}"
        f"<style>{_STYLE} {_looks(LIGHT)} @media (prefers-color-scheme: dark) {{ {_looks(DARK)} }}</style>\n"
        '<rect width="100%" height="100%" class="page"/>\n'
    )
    yield from shapes.elements
    yield "</svg>\n"


def drawn(path: DrawnPath) -> str:
    """A way alone, as a part of a page that has the style: see `IN_PAGE`."""
    shapes = Shapes()
    _path(path, shapes)
    return f"{_opening(shapes, path.words)}{''.join(shapes.elements)}</svg>\n"


IN_PAGE = (
    "svg :is(text, tspan, rect, path) { fill: currentcolor } svg text { font: 12px ui-monospace, monospace } "
    ".ground { fill-opacity: .16 } .ground.dim, .ground.plain { fill-opacity: .06 }"
)
"""Rules for a picture where the classes of tones have the property ``color``."""


def _opening(shapes: Shapes, title: str) -> str:
    width, height = shapes.right + EDGE, shapes.bottom + EDGE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" role="img">\n<title>{escaped(title)}</title>\n'
    )


def escaped(text: str) -> str:
    """Text in an element of a picture."""
    return escape(safe(text))


def _looks(colors: dict[str, str]) -> str:
    """Rules without variables, which not all programs that show pictures know."""
    grounds = ".ground { fill-opacity: .16 } .ground.dim, .ground.plain { fill-opacity: .06 }"
    return " ".join((*(f".{name} {{ fill: {color} }}" for name, color in colors.items()), grounds))


def _matrix(matrix: Matrix, shapes: Shapes) -> None:
    """Heads that are wider than their column stand upright; groups are above them, underlined."""
    labels = [row.label for row in matrix.rows]
    left = (
        EDGE + SIGN * max((min(MAX_LABEL, width_of(safe(label))) for label in (matrix.corner, *labels)), default=0) + 8
    )
    cells = [max(CELL, 10 + SIGN * _signs(matrix, at)) for at in range(len(matrix.heads))]
    upright = any(SIGN * len(head.name) > width for head, width in zip(matrix.heads, cells, strict=True))
    starts, x, at = [], left, 0
    shapes.bottom += LINE / 2
    top = shapes.bottom
    grouped = any(head.group for head in matrix.heads)
    for group, count in matrix.groups:
        width = max(sum(cells[at : at + count]), SIGN * len(group))
        if group:
            shapes.text(x, top + LINE - 8, group, "text head")
            line = f'<rect x="{x:g}" y="{top + LINE - 2:g}" width="{width - 2:g}" height="1" class="line"/>\n'
            shapes.elements.append(line)
        starts += [x + sum(cells[at : at + number]) for number in range(count)]
        x, at = x + width + (10 if grouped else 0), at + count
    top += LINE if grouped else 0
    longest = max((min(MAX_LABEL, width_of(safe(head.name))) for head in matrix.heads), default=0)
    bottom = top + (SIGN * longest + 6 if upright else LINE)
    if matrix.corner:
        shapes.text(EDGE, bottom - 5, matrix.corner, "dim")
    for start, head, width in zip(starts, matrix.heads, cells, strict=True):
        if upright:
            x, y = start + width / 2 + 3, bottom - 4
            shapes.text(x, y, head.name, "text", f' transform="rotate(-90 {x:g} {y:g})"')
        else:
            shapes.text(start + width / 2 - 1, bottom - 5, head.name, "text", ' text-anchor="middle"')
    for row in matrix.rows:
        shapes.text(EDGE, bottom + LINE - 6, row.label)
        for start, width, cell in zip(starts, cells, row.cells, strict=True):
            if cell.marks:
                shapes.box(start, bottom, width, cell.marks, title_of(cell))
        bottom += LINE
    shapes.bottom = _legend(matrix, shapes, bottom + LINE / 2)


def _path(path: DrawnPath, shapes: Shapes) -> None:
    """Arrows go down, or up, at the left of the boxes."""
    left = EDGE + LANE * (len(path.arrows) + 1)
    width = 16 + SIGN * max((width_of(safe(row.text)) for row in path.rows), default=0)
    top = shapes.bottom + LINE / 2
    for number, row in enumerate(path.rows):
        y = top + ROW * number
        if row.text:
            shapes.box(left, y, width, (Mark(row.text, row.tone),), f"{row.text}: {row.beside}")
        shapes.text(left + width + 8 if row.text else left, y + LINE - 6, row.beside, row.tone.value)
    for number, arrow in enumerate(path.arrows):
        x = left - LANE * (len(path.arrows) - number)  # each goes down in a lane of its own, the first one nearest
        start, end = (top + ROW * at + LINE / 2 + 3 * sign for at, sign in ((arrow.start, 1), (arrow.end, -1)))
        bars = ((x, start, left - x), (x, end, left - x - 6))
        lines = "".join(f'<rect x="{at:g}" y="{y:g}" width="{wide:g}" height="1.5"/>' for at, y, wide in bars)
        lines += f'<rect x="{x:g}" y="{min(start, end):g}" width="1.5" height="{abs(end - start):g}"/>'
        lines += f'<path d="M{left - 7:g} {end - 3:g}l6 3.75l-6 3.75z"/>'
        shapes.elements.append(f'<g class="text"><title>{escaped(arrow.title)}</title>{lines}</g>\n')
    shapes.bottom = top + ROW * len(path.rows)


def _signs(matrix: Matrix, column: int) -> int:
    return max((sum(width_of(safe(mark.text)) for mark in row.cells[column].marks) for row in matrix.rows), default=0)


def _legend(matrix: Matrix, shapes: Shapes, top: float) -> float:
    """Legend, in as many columns as there is room for. Returns its lower edge."""
    marks = matrix.legend or matrix.used
    if not marks:
        return top
    width = CELL + 20 + SIGN * max(width_of(safe(mark.meaning)) for mark in marks)
    columns = max(1, int((shapes.right - EDGE) // width))
    for at, mark in enumerate(marks):
        x, y = EDGE + width * (at % columns), top + LINE * (at // columns)
        shapes.box(x, y, CELL, [mark], mark.meaning)
        shapes.text(x + CELL + 6, y + LINE - 6, mark.meaning)
    return top + LINE * -(-len(marks) // columns)
