"""Lines of a terminal: runs that are safe to print, their widths, lines beside each other, and lines of files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from dispatch_cli.render.document import Excerpt, Inline, Paragraph, ParagraphKind, Run, Tone, lines_of, toned
from dispatch_cli.render.printed import safe

GAP = 2
"""Blanks between columns."""

MAX_WIDTH = 160
"""Characters of a line of a file that are shown where no terminal limits them."""
MIN_WIDTH = 20
CUT = "…"

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


def fitted(excerpt: Excerpt, width: int | None) -> Excerpt:
    """An excerpt whose line is cut to the room that it has. width: of the terminal; None for no limit but `MAX_WIDTH`.

    What is underlined stays.
    """
    line, start = excerpt.line, excerpt.start
    room = (
        MAX_WIDTH if width is None else max(MIN_WIDTH, min(width - excerpt.indent - len(_number(excerpt)), MAX_WIDTH))
    )
    room = room * len(line) // max(1, len(line), width_of(line))  # of wide characters there is room for fewer
    if len(line) <= room:
        return excerpt
    begin = 0 if start + excerpt.length <= room - 1 else max(0, min(start - room // 3, len(line) - room + 1))
    take = room - (begin > 0)
    part = line[begin:] if begin + take >= len(line) else line[begin : begin + take - 1] + CUT
    cut = (CUT if begin else "") + part
    start = max(0, min(start + (begin > 0) - begin, len(cut)))
    return excerpt._replace(line=cut, start=start, length=min(excerpt.length, max(1, len(cut) - start)))


def marked_line(excerpt: Excerpt, width: int | None = None) -> Paragraph:
    """A line with its number, and the underlining below it. width: as in `fitted`."""
    shown = fitted(excerpt, width)
    runs = [Run(_number(shown), Tone.DIM), Run(shown.line)]
    if shown.length:
        before, marked = shown.line[: shown.start], shown.line[shown.start :][: shown.length]
        runs += [
            Run(f"{' ' * len(str(shown.number))} | ", Tone.DIM, breaks=True),
            Run(" " * width_of(safe(before))),
            Run("^" * max(1, width_of(safe(marked))), shown.tone),
        ]
    return Paragraph(tuple(runs), shown.indent, kind=ParagraphKind.CODE)


def _number(excerpt: Excerpt) -> str:
    """The number of a line, as it stands before the line."""
    return f"{excerpt.number} | "
