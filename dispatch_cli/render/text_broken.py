"""Lines that have no room: broken at blanks, or cut.

Places such as ``src/add.cpp:12`` stay whole, so that a terminal can open them. So do commands, so that they can be
copied: one that no line has room for is left to the terminal to wrap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

from dispatch_cli.render.document import Run, Tone
from dispatch_cli.render.text_lines import CUT, TextLine, blanks, line_width, width_of
from dispatch_cli.render.words import is_of_pytorch

_LINE = re.compile(r"(?<=[^:]):\d+(?::\d+)?(?=[^\d:/\\]*$)")
"""The line, and perhaps the column, at the end of a place; there can be a bracket or a full stop behind it."""
_BLANK = "\ue000"
"""Character that stands for a blank in a place while lines are broken; it is a blank again before it is printed."""
_COUNT = re.compile(r"(?<=\S) (?=\([\d,]+(?: keys)?\)(?:\s|$))")
"""The blank before the count of keys behind their names: ``CUDA … Meta (14 keys)``; lines are not broken at it."""
_COMMAND = re.compile(r"(?:^|(?<=[\s(]))`(?:[^`]* )?dispatch-cli [^`]+`|^dispatch-cli .+")
"""A command of this tool in a sentence, or a line that is one."""
_START = re.compile(r"[*!] +| +")
"""The start of a line after which its further lines begin."""
_WORD = re.compile(r"\S+")
_BARE_SOURCE = re.compile(r"[^/\\]+\.(?:cc|cpp|cu|cuh|h|hpp|mm|py):\d+[^/\\]*")
"""A source file without its folder: what is left of PyTorch's own places where there is little room."""
_SPACED_WORD = re.compile(r"\s*\S+\s*")
_JOINTS = re.compile(r"::|[._/]|(?<=[a-z0-9])(?=[A-Z])")
"""Positions at which a long name is broken: behind a sign, or before a capital."""

_END_OF_RUN = re.compile(r" … \S+(?P<count> \([\d,]+(?: keys)?\))$")
"""The last of a run of keys and their count, ``CUDA … Meta (14 keys)``."""
_MORE = re.compile(r" and [\d,]+ more$")
"""The number of names that are left out behind one: ``aten::add and 12 more``."""

_Characters = list[Run]
"""A line as runs of one character each."""


def broken(line: TextLine, width: int, hang: int = 0) -> list[TextLine]:
    """The lines of a text, at most so wide; all but the first have *hang* columns less.

    A place that no line has room for is shortened in the middle. A longer name is broken at its joints. A longer
    command is a line of its own, and too wide.
    """
    width = max(width, hang + 1)
    rows: list[TextLine] = []
    for part in _parts(_shortened(_glued(line), width - hang), width - hang):
        rows += (_joined(_stripped(row)) for row in _lines(part, width - hang if rows else width, width - hang))
    return rows


def broken_cell(line: TextLine, width: int) -> list[TextLine]:
    """The lines of a text in a cell: its further lines begin where the first one does, after its blanks or its mark."""
    start = _START.match(_plain(line))
    if start is None or start.end() >= width:
        return broken(line, width)
    characters = _characters(line)
    first, *others = broken(characters[start.end() :], width - start.end())
    return [_joined(characters[: start.end()]) + first, *(blanks(start.end()) + row for row in others)]


def _plain(runs: list[Run]) -> str:
    return "".join(run.text for run in runs)


def _characters(line: TextLine) -> _Characters:
    return [Run(character, run.tone) for run in line for character in run.text]


def _joined(characters: _Characters) -> TextLine:
    groups = groupby(characters, key=lambda run: run.tone)
    return [Run(_plain([*runs]).replace(_BLANK, " "), tone) for tone, runs in groups]


def _stripped(characters: _Characters) -> _Characters:
    """A line without blanks at its end."""
    return characters[: len(_plain(characters).rstrip())]


def _glued(line: TextLine) -> _Characters:
    """A line whose places and commands are words, and whose counts of keys stay with the last key."""
    characters = _characters(line)
    text = _plain(characters)
    glued = {match.start() for match in _COUNT.finditer(text)}
    for match in _COMMAND.finditer(text):
        # what is in bold from its start is a command; a plain sentence may begin with the tool's name
        if text[match.start()] == "`" or characters[match.start()].tone is Tone.HEAD:
            glued |= {at for at in range(*match.span()) if text[at] == " "}
    glued |= {at for at, (character, tone, _) in enumerate(characters) if tone is Tone.PLACE and character == " "}
    return [run._replace(text=_BLANK) if at in glued else run for at, run in enumerate(characters)]


def _is_command(word: str) -> bool:
    """True for a word that `_glued` has made of a command."""
    return f"dispatch-cli{_BLANK}" in word


def _lines(characters: _Characters, first: int, width: int) -> Iterator[_Characters]:
    """Lines that are broken before words. A word that is too wide for a line is cut, but for a command.

    first: width of the first line.
    """
    text = _plain(characters)
    start, used, room = 0, 0, first
    for match in _SPACED_WORD.finditer(text):
        word = match[0].rstrip()
        needed = width_of(word)
        if used + needed > room and match.start():
            yield characters[start : match.start()]
            start, used, room = match.start(), 0, width
        while needed > room and not _is_command(word):
            stop = start + max(1, _fitting_start(text[start : start + room], room))
            yield characters[start:stop]
            needed -= width_of(text[start:stop])
            start, room = stop, width
        used += needed + width_of(match[0][len(word) :])
    yield characters[start:]


def _parts(characters: _Characters, width: int) -> Iterator[_Characters]:
    """A line, divided at the joints of names for which a line has no room."""
    start = 0
    for match in _WORD.finditer(_plain(characters)):
        for cut in _cuts(match, width) if width_of(match[0]) > width and not _is_command(match[0]) else ():
            yield characters[start:cut]
            start = cut
    yield characters[start:]


def _cuts(word: re.Match[str], width: int) -> Iterator[int]:
    """Positions at which a word is broken. A part that is too wide itself is left as it is."""
    start, last = word.start(), None
    for end in (*(match.end() for match in _JOINTS.finditer(word.string, *word.span())), word.end()):
        if last is not None and width_of(word.string[start:end]) > width:
            yield last
            start = last
        last = end


def _shortened(characters: _Characters, width: int) -> _Characters:
    """A line whose places are all at most so wide: of a wider one a part of its start stays, and its end."""
    short: _Characters = []
    end = 0
    for match in _WORD.finditer(_plain(characters)):
        if width_of(match[0]) > width and _LINE.search(match[0]) and not _is_command(match[0]):
            start, stop = match.span()
            head = _fitting_start(match[0], width // 4)
            room = width - width_of(match[0][:head])
            kept = next(at for at in range(max(start, stop - room), stop + 1) if width_of(match.string[at:stop]) < room)
            short += [*characters[end : start + head], Run(CUT, characters[start].tone), *characters[kept:stop]]
            end = stop
    return short + characters[end:]


def _fitting_start(text: str, room: int) -> int:
    """Number of the first characters that have room."""
    return next(length for length in range(min(len(text), room), -1, -1) if width_of(text[:length]) <= room)


def own_places(text: str) -> list[str]:
    """The words of a text that are places in files of the user."""
    if ":" not in text:
        return []
    words = (word[0] for word in _WORD.finditer(text))
    return [
        word for word in words if _LINE.search(word) and not is_of_pytorch(word) and not _BARE_SOURCE.fullmatch(word)
    ]


def needed_width(line: TextLine, room: int, narrow: bool) -> int:
    """The width that the words of a line need; narrow: its places alone. PyTorch's own places need none."""
    text = "".join(run.text.replace(" ", _BLANK) if run.tone is Tone.PLACE else run.text for run in line)
    start = _START.match(text)
    indent = start.end() if start else 0
    own = own_places(text[indent:])
    words = [] if narrow else [word for word in _COUNT.sub(_BLANK, text[indent:]).split() if not _LINE.search(word)]
    widths = [*(_place_width(place, room - indent) for place in own), *map(width_of, words)]
    return indent + max(widths) if widths else 0


def _place_width(place: str, room: int) -> int:
    """The width of a place; of one that has no room at all, that of its end."""
    if (width := width_of(place)) <= room:
        return width
    number = _LINE.search(place)
    end = number.start() if number else len(place)
    start = max(place.rfind("/", 0, end), place.rfind("\\", 0, end), 0)
    return min(room, width_of(place[start:]) + 1)


def cut(line: TextLine, width: int) -> TextLine:
    """A line that is at most so wide.

    Of a place the end stays, of a name both ends behind its namespace, of other texts the start. Of a run of keys the
    first one stays, and the count; of names the first, and how many more there are.
    """
    if line_width(line) <= width:
        return line
    if (match := _MORE.search(line[-1].text)) and width > 2 * len(match[0]):
        name = line[-1]._replace(text=line[-1].text[: match.start()])
        return [*cut([*line[:-1], name], width - len(match[0])), name._replace(text=match[0])]
    if (match := _END_OF_RUN.search(line[-1].text)) and width > 2 * len(match["count"]):
        keys = line[-1]._replace(text=f"{line[-1].text[: match.start()]} {CUT}")
        return [*cut([*line[:-1], keys], width - len(match["count"])), keys._replace(text=match["count"])]
    characters, room = _characters(line), max(0, width - len(CUT))
    text = _plain(characters)
    is_place, is_name = line[-1].tone is Tone.PLACE, len(line) == 1 and " " not in text
    _, colons, own_name = text.rpartition("::")
    if is_name and not is_place and colons and room > 0:
        return [line[0]._replace(text=CUT), *cut([line[0]._replace(text=own_name)], room)]
    room_at_end = room if is_place else room // 2 if is_name else 0
    start = _fitting_start(text, room - room_at_end)
    end = len(text) - _fitting_start(text[::-1], room_at_end)
    tone = characters[start - 1 if start else -1].tone
    return _joined([*characters[:start], Run(CUT, tone), *characters[end:]])
