"""Lines of the files that a report names, cut to fit, with the word in question underlined."""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.answers.shared.source_lines import NEAR, line_at
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.text_lines import width_of
from dispatch_cli.render.text_safety import safe

MAX_WIDTH = 160
"""Characters of a line that are shown where no terminal limits them."""

_WORD = re.compile(r"[\w:.*?\[\]-]+")
_CUT = "…"


class Snippet(NamedTuple):
    """A line as it is shown. start, length: what is underlined in it, in characters; nothing where *length* is 0."""

    number: int
    line: str
    start: int
    length: int


def snippet(span: Span, mark: str | None, width: int | None) -> Snippet | None:
    """The line of a span, with *mark* underlined where it stands at the span, else the word that stands there.

    width: characters that there is room for; None for no limit but `MAX_WIDTH`. None where the file was
    not read, or has no such line.
    """
    whole = line_at(span)
    if whole is None:
        return None
    first = max(0, span.column - NEAR)  # of a very long line, the part that can be shown
    line = whole[first : span.column + NEAR].expandtabs(1)
    start = span.column - 1 - first
    length = _length(line, start, mark)
    room = max(20, min(width or MAX_WIDTH, MAX_WIDTH))
    room = room * len(line) // max(1, len(line), width_of(line))  # of wide characters there is room for fewer
    left = len(line) - len(line.lstrip())
    cut = line[left:].rstrip()
    start -= left
    if len(cut) > room:
        begin = 0 if start + length <= room - 1 else max(0, min(start - room // 3, len(cut) - room + 1))
        take = room - (begin > 0)
        part = cut[begin:] if begin + take >= len(cut) else cut[begin : begin + take - 1] + _CUT
        start += (begin > 0) - begin
        cut = (_CUT if begin else "") + part
    start = max(0, min(start, len(cut)))
    return Snippet(span.line, cut, start, max(1, min(length, len(cut) - start)))


def marked_line(excerpt: Snippet, tone: Tone, indent: int) -> Paragraph:
    """A line with its number; the underlining below it is in *tone*."""
    number = str(excerpt.number)
    runs = [Run(f"{number} | ", Tone.DIM), Run(excerpt.line)]
    if excerpt.length:
        before, marked = excerpt.line[: excerpt.start], excerpt.line[excerpt.start :][: excerpt.length]
        marks = "^" * max(1, width_of(safe(marked)))
        runs += [
            Run(f"{' ' * len(number)} | ", Tone.DIM, breaks=True),
            Run(" " * width_of(safe(before))),
            Run(marks, tone),
        ]
    return Paragraph(tuple(runs), indent, kind=ParagraphKind.CODE)


def _length(line: str, column: int, mark: str | None) -> int:
    """Length of the mark where it stands there, else of the word there."""
    if mark and line.startswith(mark, column):
        return len(mark)
    word = _WORD.match(line, column)
    return word.end() - column if word else 1
