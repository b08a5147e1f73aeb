"""A pasted text as it was printed: without colours, and without the escapes of JSON, Python or HTML."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

MAX_DEPTH = 4
"""How often a text may be escaped: JSON in a log that is JSON itself is twice."""
NARROWEST = 40
"""Columns of the narrowest terminal whose cut lines are put together again."""
WIDTHS = frozenset((80, 100, 120, 132))
"""Columns that terminals often have: there, one line of that length is enough."""
NEARLY = 15
"""By how many characters a line that ends with a whole word is shorter than the longest."""

MAX_ESCAPES = 200_000
"""Backslashes of the lines that are unescaped. PyTorch's longest text has some 500 when it is escaped once."""
MAX_MARKED = 20_000
"""Lines with a word that is looked for, of which the lines around are unescaped too."""
AROUND = 5
"""Lines before and after such a line that may be parts of the same text."""

_COLOR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_ESCAPE = re.compile(r"\\(?:([\\/'\"nrtbf])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U(000[0-9A-Fa-f]{5}))")
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITY = re.compile(r"&(?:#39|#x27|apos|quot|lt|gt);")
_ENTITIES = {"&#39;": "'", "&#x27;": "'", "&apos;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">"}


class Plain(NamedTuple):
    """A text as it was printed. ends: for each line of the pasted text, up to which line of *text* it reaches."""

    text: str
    ends: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The line of the pasted text, 1-based, that holds what is at *offset* of this one."""
        return bisect_left(self.ends, self.text.count("\n", 0, offset) + 1) + 1


def plain(text: str, worth: Callable[[str], int], words: Iterable[str]) -> Plain:
    """Without colours and escapes, so that quotes and line breaks are what they stand for.

    A backslash may also be part of a path: ``C:\\new\\ops``. Each line is escaped as a whole or not at all. It is
    escaped if more can be read in it then; where that makes no difference, if each backslash in it begins an escape.
    Lines far from any of *words* are left as they are, and so are the lines beyond `MAX_ESCAPES`: the time that is
    taken grows with the length of the text alone.

    worth: how much can be read in a text. words: what a text has in which anything can be read, escaped or not.
    """
    text = uncoloured(text)
    lines = text.split("\n")
    left = MAX_ESCAPES
    for at in sorted(_marked(text, lines, words)) if "\\" in text else ():
        left -= lines[at].count("\\")
        if left < 0:
            break
        lines[at] = _unescaped(lines[at], worth, MAX_DEPTH)
    text = "\n".join(lines)
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text) if "&" in text else text
    return Plain(text, tuple(accumulate(line.count("\n") + 1 for line in lines)))


def _marked(text: str, lines: list[str], words: Iterable[str]) -> set[int]:
    """The lines with one of some words, and those around them, by number from 0."""
    ends = [*accumulate(len(line) + 1 for line in lines)]
    marked: set[int] = set()
    for word in words:
        start = text.find(word)
        while start >= 0 and len(marked) < MAX_MARKED:
            at = bisect_right(ends, start)
            marked.update(range(max(0, at - AROUND), min(at + AROUND + 1, len(lines))))
            start = text.find(word, ends[at])
    return marked


def rejoined(text: str) -> tuple[str, tuple[int, ...]] | None:
    """A text that a terminal cut at its width, inside of words too, with the lines put together again.

    The second value has, for each line, the line where it began, 1-based. None where the text does not look cut so: the
    longest lines are then as long as one another, and few are a little shorter, as where words were kept whole.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    full = sum(len(line) == width for line in lines)
    nearly = sum(width - NEARLY <= len(line) < width for line in lines)
    if width < NARROWEST or (full < 2 and width not in WIDTHS) or 2 * full < nearly:
        return None
    whole: list[list[str]] = [[]]
    begins = [1]
    for number, line in enumerate(lines, 1):
        whole[-1].append(line)
        if len(line) != width and number < len(lines):
            whole.append([])
            begins.append(number + 1)
    return "\n".join("".join(parts) for parts in whole), tuple(begins)


def uncoloured(text: str) -> str:
    """Without the escape sequences of a terminal."""
    return _COLOR.sub("", text.replace("\r\n", "\n"))


def _unescaped(line: str, worth: Callable[[str], int], depth: int) -> str:
    if "\\" not in line or not depth:
        return line
    text = uncoloured(_ESCAPE.sub(_meant, line))
    if text == line:
        return line
    gain = worth(text) - worth(line)
    if gain < 0 or (gain == 0 and "\\" in _ESCAPE.sub("", line)):
        return line
    return "\n".join(_unescaped(part, worth, depth - 1) for part in text.split("\n"))


def _meant(match: re.Match[str]) -> str:
    sign, *codes = match.groups()
    if sign is not None:
        return _SIGNS.get(sign, sign)
    code = int(next(code for code in codes if code is not None), 16)
    # half of a pair is no character
    return match[0] if 0xD800 <= code < 0xE000 or code >= 0x110000 else chr(code)
