"""The lines that places in files name, and where on them a word stands."""

from __future__ import annotations

import re

from dispatch_cli.model.read_files import lines_of
from dispatch_cli.model.span import Span

NEAR = 4096
"""Characters before and behind a place in which a word is looked for. A long line can have very many places."""
_COMMENT = re.compile(r"\s(?://|#\s)")


def line_at(span: Span) -> str | None:
    """The line of a span; None where its file was not read, or has nothing there."""
    lines = lines_of(span.file)
    return lines[span.line - 1] if span.line <= len(lines) and lines[span.line - 1].strip() else None


def at_word(span: Span, word: str, follows: bool = False) -> Span:
    """The place of *word* on the span's line, at the span or nearest to it; the span where the word is not there.

    It is looked for before the span first, else behind it, up to a comment; where it *follows*, the other way round.
    """
    line = line_at(span)
    if line is None:
        return span
    start = max(0, span.column - NEAR)
    plain = re.escape(word)
    # a pattern that begins with the word itself is searched for fast
    comment = _COMMENT.search(line, span.column, span.column + NEAR)
    end = span.column + NEAR if comment is None else comment.start()
    found_at = re.compile(rf"{plain}(?<!\w{plain})(?!\w)").finditer(line, start, end)
    columns = [match.start() + 1 for match in found_at]
    before = [column for column in columns if column <= span.column][::-1]
    behind = [column for column in columns if column >= span.column]
    columns_in_order = behind + before if follows else before + behind
    return span._replace(column=columns_in_order[0]) if columns_in_order else span
