"""Places such as ``src/add.cpp:12`` where lines are broken: each stays in one piece, so that a terminal can open it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.containers import Lines
from rich.text import Text

from dispatch_cli.render.places import BLANK, COUNT, LINE, START, WORD

_MARK = "…"
_SEPARATORS = re.compile(r"[/\\]")


class PlacedText(Text):
    """A text that is broken into lines at blanks; a place that no line has room for is shortened in the middle."""

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        """The lines of the text, at most so wide."""
        return Text.wrap(_parted(shortened(_glued(self), width), width), console, width, **how)


class HangingText(PlacedText):
    """A text in a cell: its further lines begin where the first one does, after its blanks or its mark."""

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        """The lines of the text, at most so wide."""
        start = START.match(self.plain)
        if start is None or start.end() >= width:
            return super().wrap(console, width, **how)
        wrapped = PlacedText().append_text(self[start.end() :]).wrap(console, width - start.end(), **how)
        heads = (self[: start.end()] if not number else Text(" " * start.end()) for number in range(len(wrapped)))
        return Lines(head.append_text(line) for head, line in zip(heads, wrapped, strict=True))


_PARTS = re.compile(r"::|[._/]|(?<=[a-z0-9])(?=[A-Z])")
"""Positions at which a long name is broken: behind a sign, or before a capital."""


def _glued(text: Text) -> Text:
    """A text whose counts of keys stay with the last key."""
    for match in COUNT.finditer(text.plain):
        text = text[: match.start()].append(BLANK).append_text(text[match.end() :])
    return text


def _parted(text: Text, width: int) -> Text:
    """A text whose words are broken at the joints of names, where a line has no room for them."""
    cuts = [cut for match in WORD.finditer(text.plain) if cell_len(match[0]) > width for cut in _cuts(match, width)]
    return Text("\n").join(text.divide(cuts)) if cuts else text


def _cuts(word: re.Match[str], width: int) -> Iterator[int]:
    """Positions at which a word is broken. A part that is too wide itself is left as it is."""
    start, last = word.start(), None
    for end in (*(match.end() for match in _PARTS.finditer(word.string, *word.span())), word.end()):
        if last is not None and cell_len(word.string[start:end]) > width:
            yield last
            start = last
        last = end


def shortened(text: Text, width: int) -> Text:
    """A text whose places are all at most so wide, in columns."""
    wide = [match for match in WORD.finditer(text.plain) if cell_len(match[0]) > width]
    places = [(word, line.start()) for word in wide if (line := LINE.search(word[0])) is not None]
    short, end = Text(), 0
    for word, number in places:
        head, tail = _ends(word[0], number, width)
        start, stop = word.span()
        short = short.append_text(text[end : start + head]).append(_MARK if head + tail < stop - start else "")
        short, end = short.append_text(text[stop - tail : stop]), stop
    return short.append_text(text[end:]) if places else text


def _ends(word: str, number: int, width: int) -> tuple[int, int]:
    """Numbers of characters of a word that stay at its start and at its end.

    The line, which begins at *number*, stays, and the name of the file where there is room; where there is none for the
    line, all stays.
    """
    room = width - len(_MARK)
    names = [match.end() for match in _SEPARATORS.finditer(word, 0, number)]
    tail = _fitting(word[names[-1] if names else 0 :], room)
    if tail == 0:
        left = room - cell_len(word[number:])
        if left < 0:
            return len(word), 0
        tail = len(word) - number + _fitting_end(word[:number], left - left // 3)
    return _fitting_start(word[: len(word) - tail], room - cell_len(word[len(word) - tail :])), tail


def _fitting(text: str, room: int) -> int:
    """The length of a text that has room, and 0 of another."""
    return len(text) if cell_len(text) <= room else 0


def _fitting_start(text: str, room: int) -> int:
    """Number of the first characters that have room."""
    return next(length for length in range(min(len(text), room), -1, -1) if cell_len(text[:length]) <= room)


def _fitting_end(text: str, room: int) -> int:
    """Number of the last characters that have room."""
    return next(
        length for length in range(min(len(text), room), -1, -1) if cell_len(text[len(text) - length :]) <= room
    )
