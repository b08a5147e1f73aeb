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
    """A text as it was printed. ends: for each line of the pasted text, up to which line of *text* it reaches."""

    text: str
    ends: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The line of the pasted text, 1-based, that holds what is at *offset* of this one."""
        return bisect_left(self.ends, self.text.count("\n", 0, offset) + 1) + 1


class Rearranged(NamedTuple):
    """A text with other lines. begins: for each of them the line of the pasted text, 1-based, where it began."""

    text: str
    begins: tuple[int, ...]


def plain(text: str) -> Plain:
    """Without colours and escapes, so that quotes and line breaks are what they stand for."""
    text = uncoloured(text)
    lines = [_unescaped(line, MAX_DEPTH) for line in text.split("\n")]
    text = "\n".join(lines)
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text) if "&" in text else text
    return Plain(text, tuple(accumulate(line.count("\n") + 1 for line in lines)))


def rejoined(text: str) -> Rearranged | None:
    """A text that a terminal cut at its width, inside of words too, with the lines put together again.

    None where the text does not look cut so: several of its lines are then as long as the longest. Lines that begin
    alike are those of a log, and whole.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    is_cut = [len(line) == width and line[:HEAD] != after[:HEAD] for line, after in pairwise((*lines, ""))]
    if width < NARROWEST or sum(is_cut) < (1 if width in WIDTHS else 2):
        return None
    begins = [number for number, was_cut in enumerate((False, *is_cut[:-1]), 1) if not was_cut]
    joined = "".join(line if cut else f"{line}\n" for line, cut in zip(lines, is_cut, strict=True))
    return Rearranged(joined, tuple(begins))


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
