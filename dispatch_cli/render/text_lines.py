"""Lines of a terminal: runs that are safe to print, their widths, and lines beside each other."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from dispatch_cli.render.document import Inline, Run, Tone, lines_of, toned
from dispatch_cli.render.printed import safe

GAP = 2
"""Blanks between columns."""

TextLine = list[Run]
"""A line that is laid out. Its runs are safe to print, and do not break."""


def width_of(text: str) -> int:
    """Columns that a text takes. Rich's tables of wide characters are asked only where there may be one."""
    if text.replace("…", ".").replace("·", ".").isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def shown_lines(inline: Inline, tone: Tone = Tone.PLAIN) -> list[TextLine]:
    """Lines that are safe to print. tone: of the runs that have none."""
    return [[toned(Run(safe(run.text), run.tone), tone) for run in line] for line in lines_of(inline)]


def line_width(line: TextLine) -> int:
    """Columns that a line takes."""
    return sum(width_of(run.text) for run in line)


def blanks(count: int) -> TextLine:
    """Run of *count* blanks; none where it is negative."""
    return [Run(" " * count)] if count > 0 else []


def beside(
    cells: Sequence[list[TextLine]], widths: Sequence[int], right: Sequence[bool], indent: int = 0
) -> list[TextLine]:
    """The cells of a row, each as wide as its column. right: whether a column is set to the right."""
    lines = []
    for parts in zip_longest(*cells, fillvalue=[]):
        line = blanks(indent)
        for position, (part, width) in enumerate(zip(parts, widths, strict=True)):
            rest = blanks(width - line_width(part))
            line += blanks(GAP) if position else []
            line += [*rest, *part] if right[position] else [*part, *rest]
        lines.append(line)
    return lines
