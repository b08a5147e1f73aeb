"""The lines of a source as a compiler counts them, for the audit."""

from __future__ import annotations

import re
from bisect import bisect_left

from dispatch_cli.audit.python_text import blank

_BLANKS_BEHIND = re.compile(r"\\[ \t\f\v]+$", re.M)
_SPLIT_WORD = re.compile(r"(?:\w|[/*.:>-])\\\n(?=[\w/*(>:\\])")


def same_ends(text: str) -> str:
    """The text with ``\\n`` at the end of each line, be it ``\\r\\n`` or ``\\r``."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def whole_words(text: str) -> str:
    """C++ text in which no backslash at the end of a line splits a word or a mark: such lines are put together.

    As many empty lines follow.
    """
    if "\\" not in text:
        return text
    text = _BLANKS_BEHIND.sub(r"\\", text)
    if "\\\n" not in text or not _SPLIT_WORD.search(text):
        return text
    joined_lines: list[str] = []
    part: list[str] = []
    for line in text.split("\n"):
        part.append(line)
        if not line.endswith("\\"):
            joined_lines.append(_whole(part))
            part = []
    return "\n".join([*joined_lines, "\n".join(part)] if part else joined_lines)


def _whole(lines: list[str]) -> str:
    """The lines that one goes on with, together if a word or a mark is split."""
    text = "\n".join(lines)
    if len(lines) == 1 or not _SPLIT_WORD.search(text):
        return text
    return text.replace("\\\n", "") + "\n" * (len(lines) - 1)


def is_within(spans: list[tuple[int, int]], start: int, end: int) -> bool:
    """True if one of the spans, which are in order, is in that part."""
    index = bisect_left(spans, (start, start))
    return index < len(spans) and spans[index][1] <= end


def end_of_directive(code: str, position: int) -> int:
    """End of a directive, which goes on over lines with a backslash at their end."""
    while True:
        end = code.find("\n", position)
        if end == -1:
            return len(code)
        if not code[max(end - 2, position) : end].rstrip("\r").endswith("\\"):
            return end
        position = end + 1


def after(text: str, closing: str, position: int) -> int:
    """The place behind the next *closing*; the end of the text where there is none."""
    end = text.find(closing, position)
    return len(text) if end == -1 else end + len(closing)


def blank_but_continued(text: str) -> str:
    """Blanks; the backslashes at ends of lines stay, as a ``#define`` goes on with them."""
    if "\\\n" not in text:
        return blank(text)
    return "\n".join(
        " " * (len(line) - 1) + "\\" if line.endswith("\\") else " " * len(line) for line in text.split("\n")
    )
