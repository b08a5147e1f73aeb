"""A pasted text as it was printed: without colours, and without the escapes of JSON, Python or HTML."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate, pairwise
from typing import NamedTuple

MAX_DEPTH = 4
"""Escapes of escapes that are undone: JSON in a log that is JSON itself is escaped twice."""
NARROWEST = 40
"""Columns of the narrowest terminal whose cut lines are put together again."""
WIDTHS = frozenset((80, 100, 120, 132))
"""Columns that terminals often have: there, one line of that length is enough."""
HEAD = 5
"""Characters of a line that tell lines of a log, which begin alike."""
_COLOR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_ESCAPE = re.compile(r"\\(?:([\\/'\"nrtbf])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U(000[0-9A-Fa-f]{5}))")
_DRIVE = re.compile(r"(?<![\\\w])[A-Za-z]:\\(?!\\)")
"""A path of Windows, ``C:\\new``; where it is escaped, it has two backslashes."""
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITY = re.compile(r"&(?:#39|#x27|apos|quot|lt|gt);")
_ENTITIES = {"&#39;": "'", "&#x27;": "'", "&apos;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">"}


class Plain(NamedTuple):
    """A text with other lines than the pasted one. ends: the last line of *text* that each pasted line reaches."""

    text: str
    ends: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The line of the pasted text, 1-based, that holds what is at *offset* of this one."""
        return self.pasted_line(self.text.count("\n", 0, offset) + 1)

    def pasted_line(self, number: int) -> int:
        """The first line of the pasted text that reaches a line of this one, both 1-based."""
        return bisect_left(self.ends, number) + 1


def plain(text: str) -> Plain:
    """Without colours and escapes, so that quotes and line breaks are what they stand for."""
    text = uncoloured(text)
    lines = [_unescaped(line, MAX_DEPTH) for line in text.split("\n")]
    text = "\n".join(lines)
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text) if "&" in text else text
    return Plain(text, tuple(accumulate(line.count("\n") + 1 for line in lines)))


def rejoined(text: str) -> Plain | None:
    """A text that a terminal cut at its width, inside of words too, with the lines put together again.

    None where the text does not look cut so: several of its lines are then as long as the longest. Lines that begin
    alike are those of a log, and whole.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    is_cut = [len(line) == width and line[:HEAD] != after[:HEAD] for line, after in pairwise((*lines, ""))]
    if width < NARROWEST or sum(is_cut) < (1 if width in WIDTHS else 2):
        return None
    joined = "".join(line if cut else f"{line}\n" for line, cut in zip(lines, is_cut, strict=True))
    return Plain(joined, tuple(accumulate((1, *(not cut for cut in is_cut[:-1])))))


def uncoloured(text: str) -> str:
    """Without the escape sequences of a terminal."""
    return _COLOR.sub("", text.replace("\r\n", "\n"))


def _unescaped(line: str, depth: int) -> str:
    """A line without escapes. It is escaped as a whole or not at all: a backslash may also be part of a path."""
    others = _ESCAPE.sub("", line).count("\\")  # names in an escaped text may have a few of their own
    if not depth or 4 * others >= line.count("\\") or _DRIVE.search(line):
        return line
    return "\n".join(_unescaped(part, depth - 1) for part in uncoloured(_ESCAPE.sub(_meant, line)).split("\n"))


def _meant(match: re.Match[str]) -> str:
    sign, *codes = match.groups()
    if sign is not None:
        return _SIGNS.get(sign, sign)
    code = int(next(code for code in codes if code is not None), 16)
    # half of a pair is no character
    return match[0] if 0xD800 <= code < 0xE000 or code >= 0x110000 else chr(code)
