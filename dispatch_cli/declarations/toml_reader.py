"""TOML files: looked through before they are parsed, since the parser's time and memory grow with the square of a key.

Where strings and comments begin and end is found as the parser finds it, up to the first mistake, at which it stops.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from dispatch_cli.declarations.source import Source

MAX_PARTS = 16
"""Dotted parts of one key; no real key has as many."""
MAX_DOTS = 20_000
"""Dots of all keys and numbers of a file."""
MAX_MESSAGE = 200
"""Characters of the parser's message that are shown; it quotes keys."""

_NEXT = re.compile(r"\"{3}|'{3}|[.\"'#]|[=,{}\[\]\n]+")
"""What a string, a comment or a part of a key begins with, or what ends a key."""
_ENDS = {
    '"': re.compile(r'(?:[^"\\\n]|\\.)*"'),
    "'": re.compile(r"[^'\n]*'"),
    '"""': re.compile(r'[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"{3,5}', re.DOTALL),
    "'''": re.compile(r"[^']*(?:'(?!'')[^']*)*'{3,5}"),
    "#": re.compile(r"[^\n]*"),
}
"""What a string or a comment begins with → its rest."""
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


class TomlError(ValueError):
    """A text is not TOML, or more than is read. line, column: where; None at its end."""

    def __init__(self, message: str, line: int | None = None, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class TomlSource(Source):
    """A TOML file; its lines end where the parser ends them."""

    @cached_property
    def lines(self) -> list[str]:
        """The text by line, without line breaks."""
        return self.text.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        """The offset of each line."""
        return [0, *accumulate(len(line) + 1 for line in self.lines)][:-1]

    def place_of(self, word: str, start: int) -> tuple[int, int]:
        """The line and the column where *word* stands first from an offset on; else the line of the offset.

        The parser does not say where anything stands.
        """
        found = self.text.find(word, start)
        return self.place_at(found) if found >= 0 else (self.place_at(start)[0], 1)

    def place_at(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@lru_cache(maxsize=1)  # whether a file has settings is asked before they are read
def parse_toml(text: str) -> Mapping[str, Any]:
    """What a TOML file says; not to be changed. Errors: TomlError."""
    _look_through(text)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        said = str(error)
        message = _PLACE.sub("", said).strip()[:MAX_MESSAGE] or "it is not TOML"
        found = _PLACE.search(said)
        raise (TomlError(message, int(found[1]), int(found[2])) if found else TomlError(message)) from None
    except RecursionError:
        raise TomlError("tables and lists nest too deeply") from None
    except ValueError:
        raise TomlError("a number has too many digits") from None


def _look_through(text: str) -> None:
    """Refuse a text with too many dots outside of strings and comments. Errors: TomlError."""
    parts = dots = 0
    for word, start in _words(text):
        if word == ".":
            parts, dots = parts + 1, dots + 1
            if parts >= MAX_PARTS or dots > MAX_DOTS:
                message = f"a key has more than {MAX_PARTS} dotted parts"
                if parts < MAX_PARTS:
                    message = f"the file has more than {MAX_DOTS} dots outside of strings"
                line = text.count("\n", 0, start) + 1
                raise TomlError(message, line, start - text.rfind("\n", 0, start))
        else:
            parts = 0


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Dots, and what ends a key, outside of strings and comments, and where each is."""
    at = 0
    while (found := _NEXT.search(text, at)) is not None:
        word, at = found[0], found.end()
        if (end := _ENDS.get(word)) is None:
            yield word, found.start()
        elif (rest := end.match(text, at)) is not None:
            at = rest.end()
        else:
            return  # it does not end: the parser goes no further
