"""TOML files, and their tables. The parser's time and memory grow with the square of a key: long keys are refused."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from dispatch_cli.declarations.limits import MAX_PROJECT_ENTRIES
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import Source, SourceError, check_inside
from dispatch_cli.declarations.text import quoted
from dispatch_cli.files import paths
from dispatch_cli.model.settings import Named
from dispatch_cli.model.span import Span
from dispatch_cli.model.suggest import suggestion

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


class TableReader:
    """Reads fields of a table, and notes mistakes.

    folder: of the project file. project: the folder that what it names has to be in. start: the offset of the table,
    from which a word is looked for. There are few entries, so that this is not done often.
    """

    def __init__(self, folder: str, source: TomlSource, project: str | None, problems: Problems, start: int) -> None:
        self.folder = folder
        self.source = source
        self.project = project
        self.problems = problems
        self.start = start

    def add(self, code: str, message: str, word: str, hint: str | None = None, start: int | None = None) -> None:
        """Note a problem where *word* stands first, from the start of the table or another one on."""
        at = self.source.place_of(word, self.start if start is None else start)
        self.problems.add(code, message, Place(*at), hint)

    def refuse_unknown(self, table: Mapping[str, Any], fields: tuple[str, ...], name: str) -> None:
        """Note the fields that the table does not have. name: what messages call it."""
        for field in list(table)[:MAX_PROJECT_ENTRIES]:
            if field not in fields:
                hint = suggestion(field, fields) or f"the fields are {', '.join(fields)}"
                self.add("unknown-field", f"{name} has no field {quoted(field)}", field, hint)

    def are_few(self, entries: Collection[object], name: str, field: str) -> bool:
        """True if entries are not too many; noted where they are."""
        if len(entries) <= MAX_PROJECT_ENTRIES:
            return True
        self.add("too-large", f"{name} has more than {MAX_PROJECT_ENTRIES} entries", field)
        return False

    def texts(self, table: Mapping[str, Any], field: str) -> Iterator[str]:
        """The texts of a field that takes one or a list of them."""
        value = table.get(field, [])
        values = value if isinstance(value, list) else [value]
        for item in values if self.are_few(values, field, field) else ():
            if isinstance(item, str) and item:
                yield item
            else:
                self.add("wrong-type", f"{field} takes a string or a list of strings", field)

    def paths(self, table: Mapping[str, Any], field: str) -> Iterator[Named]:
        """The files of a field, as they can be opened from here."""
        start = self.offset(field)
        for text in self.texts(table, field):
            path = str(Path(paths.join(self.folder, text)))
            try:
                check_inside(path, self.project)
            except SourceError as error:
                self.add(error.code, error.message, text, error.hint, start)
            else:
                yield Named(path, self.span(text, start))

    def offset(self, field: str) -> int:
        """Start of a field, or else of the table."""
        start = self.source.text.find(field, self.start)
        return self.start if start < 0 else start

    def span(self, word: str, start: int) -> Span:
        """Place of a word, looked for from an offset on."""
        return Span(self.source.file, *self.source.place_of(word, start))
