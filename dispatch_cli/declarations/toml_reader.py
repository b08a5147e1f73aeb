"""TOML files. The parser's time and memory grow with the square of a key, so long keys are refused before it runs."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any

from dispatch_cli.declarations.source import Source

MAX_PARTS = 16
"""Dotted parts of one key; no real key has as many."""
MAX_MESSAGE = 200
"""Characters of the parser's message that are shown; it quotes keys."""

_PART = r"""(?:(?<![\w-])[\w-]+|(?<!\\)"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?:{_PART}[ \t]*\.[ \t]*){{{MAX_PARTS}}}")
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
        offset = self.text.find(word, start)
        return self.place_at(offset) if offset >= 0 else (self.place_at(start)[0], 1)

    def place_at(self, offset: int) -> tuple[int, int]:
        """The line and the column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


@lru_cache(maxsize=1)  # whether a file has settings is asked before they are read
def parse_toml(text: str) -> Mapping[str, Any]:
    """Content of a TOML file; not to be changed. Errors: TomlError."""
    _refuse_long_keys(text)
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        error_text = str(error)
        message = _PLACE.sub("", error_text).strip()[:MAX_MESSAGE] or "it is not TOML"
        match = _PLACE.search(error_text)
        raise (TomlError(message, int(match[1]), int(match[2])) if match else TomlError(message)) from None
    except RecursionError:
        raise TomlError("tables and lists nest too deeply") from None
    except ValueError:
        raise TomlError("a number has too many digits") from None


def _refuse_long_keys(text: str) -> None:
    """Refuse a key of too many parts; what looks like one in a string or a comment counts. Errors: TomlError."""
    if (match := _LONG_KEY.search(text)) is not None:
        start = match.start()
        line = text.count("\n", 0, start) + 1
        raise TomlError(f"a key has more than {MAX_PARTS} dotted parts", line, start - text.rfind("\n", 0, start))
