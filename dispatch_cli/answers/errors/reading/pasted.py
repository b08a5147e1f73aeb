"""A pasted text as it was printed: without colours, and without the escapes of JSON, Python or HTML."""

from __future__ import annotations

import re
from bisect import bisect_left
from itertools import accumulate
from typing import NamedTuple

MAX_DEPTH = 4
"""Escapes of escapes that are undone: JSON in a log that is JSON itself is escaped twice."""
NARROWEST = 40
"""Columns of the narrowest terminal whose cut lines are put together again."""
WIDTHS = frozenset((80, 100, 120, 132))
"""Columns that terminals often have: there, one line of that length is enough."""
NEARLY = 15
"""Number of characters by which a line that ends with a whole word is shorter than the longest."""

MAX_HEAD = 120
"""Characters of what a log writes before each line."""
_DIGITS = str.maketrans("123456789", "000000000")
_OF_HEADS = re.compile(r"[0\[(]")

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


def without_heads(text: str) -> Rearranged | None:
    """A log without what each line begins with: time, level, process. None where lines begin with nothing of the kind.

    It is what a line has in common with the one before or after it, but for digits, up to the end of a word. A line
    that begins as its neighbour by chance loses that too, so that the text is to be read with its heads as well.
    """
    lines = text.split("\n")
    shapes = [*map(_shape, lines)]
    shared = [0, *map(_shared, shapes, shapes[1:]), 0]
    heads = [*map(max, shared, shared[1:])]
    if not any(heads):
        return None
    short = "\n".join(line[head:] for line, head in zip(lines, heads, strict=True))
    return Rearranged(short, tuple(range(1, len(lines) + 1)))


def _shape(line: str) -> str:
    return line[:MAX_HEAD].translate(_DIGITS)


def _shared(shape: str, other: str) -> int:
    """Length of the head that two lines have, which has a digit or a bracket: ``[rank0]:``; 0 for none."""
    pairs = zip(shape, other, strict=False)
    alike = next((at for at, (first, second) in enumerate(pairs) if first != second), min(len(shape), len(other)))
    length = shape.rfind(" ", 0, alike) + 1
    return length if _OF_HEADS.search(shape, 0, length) else 0


def rejoined(text: str) -> Rearranged | None:
    """A text that a terminal cut at its width, inside of words too, with the lines put together again.

    None where the text does not look cut so: the longest lines are then as long as one another, and few are a little
    shorter, as where words were kept whole. Lines with the same head are those of a log, and whole.
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
        if number < len(lines) and (len(line) != width or _shared(_shape(line), _shape(lines[number]))):
            whole.append([])
            begins.append(number + 1)
    return Rearranged("\n".join("".join(parts) for parts in whole), tuple(begins))


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
