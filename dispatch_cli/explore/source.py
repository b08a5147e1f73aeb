"""A line of a file with its neighbours, as they were read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent

from dispatch_cli.model.read_lines import lines_of
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Gap, Paragraph, ParagraphKind, Run, Tone
from dispatch_cli.render.text_lines import TextLine
from dispatch_cli.render.text_list import cut
from dispatch_cli.render.text_safety import safe

AROUND = 2
"""Lines before and after that are shown."""
_LONGEST = 400
_TOKENS = re.compile(r"""(//.*|\#(?!\w).*)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([^"'/\#]+|.)""")
_TONES = (Tone.DIM, Tone.ALIAS, Tone.PLAIN)


def source_lines(span: Span | None, width: int, low: bool = False) -> Iterator[TextLine]:
    """The place, then its line and those around; nothing where the file was not read. low: the line alone."""
    lines = () if span is None else lines_of(span.file)
    if span is None or not 0 < span.line <= len(lines):
        return
    around = 0 if low else AROUND
    first = max(1, span.line - around)
    shown = [safe(line[:_LONGEST].expandtabs(4)) for line in lines[first - 1 : span.line + around]]
    digits = len(str(span.line + around))
    if not low:
        yield cut([Run(str(span), Tone.PLACE)], width)
    for number, text in enumerate(dedent("\n".join(shown)).split("\n"), first):
        is_here = number == span.line
        margin = Run(f"{'>' if is_here else ' '} {number:>{digits}} | ", Tone.WARN if is_here else Tone.DIM)
        yield cut([margin, *_highlighted(text)], width)


def source_blocks(span: Span | None, width: int, low: bool = False) -> Iterator[Block]:
    """The same as blocks, several after a gap."""
    for number, line in enumerate(source_lines(span, width, low)):
        if not number and not low:
            yield Gap()
        yield Paragraph(tuple(line), kind=ParagraphKind.CODE)


def _highlighted(text: str) -> Iterator[Run]:
    """Comments and strings have tones of their own."""
    for match in _TOKENS.finditer(text):
        yield Run(match[0], _TONES[(match.lastindex or 1) - 1])
