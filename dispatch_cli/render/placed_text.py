"""Places such as ``src/add.cpp:12`` where lines are broken: each stays in one piece, so that a terminal can open it."""

from __future__ import annotations

import re
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.containers import Lines
from rich.text import Text

_WORD = re.compile(r"\S+")
_LINE = re.compile(r"(?<=[^:]):\d+(?::\d+)?(?=[^\d:/\\]*$)")
"""The line, and perhaps the column, at the end of a place; there can be a bracket or a full stop behind it."""
_MARK = "…"
_SEPARATORS = re.compile(r"[/\\]")
BLANK = "\ue000"
"""What stands for a blank in a place while lines are broken; it is a blank again before it is printed."""


class PlacedText(Text):
    """A text that is broken into lines at blanks; a place that no line has room for is shortened in the middle."""

    def wrap(self, console: Console, width: int, **how: Any) -> Lines:
        """The lines of the text, at most so wide."""
        return Text.wrap(shortened(self, width), console, width, **how)


def shortened(text: Text, width: int) -> Text:
    """A text whose places are all at most so wide, in columns."""
    wide = [one for one in _WORD.finditer(text.plain) if cell_len(one[0]) > width]
    places = [(one, line.start()) for one in wide if (line := _LINE.search(one[0])) is not None]
    found, end = Text(), 0
    for one, number in places:
        head, tail = _ends(one[0], number, width)
        start, stop = one.span()
        found = found.append_text(text[end : start + head]).append(_MARK if head + tail < stop - start else "")
        found, end = found.append_text(text[stop - tail : stop]), stop
    return found.append_text(text[end:]) if places else text


def _ends(word: str, number: int, width: int) -> tuple[int, int]:
    """How many characters of a word stay at its start and at its end.

    The line, which begins at *number*, stays, and the name of the file where there is room; where there is none for the
    line, all stays.
    """
    room = width - len(_MARK)
    names = [one.end() for one in _SEPARATORS.finditer(word, 0, number)]
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
    """So many of the first characters have room."""
    return next(length for length in range(min(len(text), room), -1, -1) if cell_len(text[:length]) <= room)


def _fitting_end(text: str, room: int) -> int:
    """So many of the last characters have room."""
    return next(
        length for length in range(min(len(text), room), -1, -1) if cell_len(text[len(text) - length :]) <= room
    )
