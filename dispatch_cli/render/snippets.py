"""Lines of the files that a report names, cut to fit, with the word in question underlined."""

from __future__ import annotations

import re

from dispatch_cli.answers.shared.source_lines import NEAR, line_at
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Excerpt, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.printed import safe
from dispatch_cli.render.text_lines import width_of

MAX_WIDTH = 160
"""Characters of a line that are shown where no terminal limits them."""
MIN_WIDTH = 20

_WORD = re.compile(r"[\w:.*?\[\]-]+")
_CUT = "…"


def snippet(span: Span, mark: str | None, tone: Tone, indent: int = 0) -> Excerpt | None:
    """The line of a span, with *mark* underlined where it stands at the span, else the word that stands there.

    None where the file was not read, or has no such line.
    """
    whole = line_at(span)
    if whole is None:
        return None
    first = max(0, span.column - NEAR)  # of a very long line, the part that can be shown
    line = whole[first : span.column + NEAR].expandtabs(1)
    start = span.column - 1 - first
    length = _length(line, start, mark)
    left = len(line) - len(line.lstrip())
    shown = line[left:].rstrip()
    start = max(0, min(start - left, len(shown)))
    return Excerpt(span.line, shown, start, max(1, min(length, len(shown) - start)), tone, indent)


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
    part = line[begin:] if begin + take >= len(line) else line[begin : begin + take - 1] + _CUT
    cut = (_CUT if begin else "") + part
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


def _length(line: str, column: int, mark: str | None) -> int:
    """Length of the mark where it stands there, else of the word there."""
    if mark and line.startswith(mark, column):
        return len(mark)
    word = _WORD.match(line, column)
    return word.end() - column if word else 1
