"""TOML files, and a table of one as a tree. The parser is slow for long keys, which are refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dispatch_cli.declarations import tree
from dispatch_cli.declarations.problems import Place, Problems
from dispatch_cli.declarations.source import Source
from dispatch_cli.declarations.tree import Node, Scalar
from dispatch_cli.model.budget import OverBudget, weight

MAX_PROJECT_ENTRIES = 1_000
"""Entries of one list or table."""
MAX_PARTS = 16
"""Dotted parts of one key; no real key has as many."""
_REACH = 10_000
"""Characters in which the next text of a table is looked for."""
MAX_MESSAGE = 200
"""Characters of the parser's message that are shown; it quotes keys."""

_PART = r"""(?:(?<![\w-])[\w-]+|(?<!\\)"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_LONG_KEY = re.compile(rf"(?:{_PART}[ \t]*\.[ \t]*){{{MAX_PARTS}}}")
_BEFORE_VALUE = re.compile(r"[ \t]*(?:=[ \t]*)?")
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


class TomlError(ValueError):
    """A text is not TOML, or more than is read. line, column: where; None at its end."""

    def __init__(self, message: str, line: int | None = None, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


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


def read_table(source: Source, name: str) -> tuple[Problems, tree.Mapping | None]:
    """The table ``[tool.NAME]`` of a project file as a tree; empty where it is not there.

    None, noting why, where the file is not TOML or says too much.
    """
    problems = Problems(source)
    try:
        tool = parse_toml(source.text).get("tool")
        table = tool.get(name, {}) if isinstance(tool, Mapping) else {}
        node = _TomlTree(source, name).node(table)
    except TomlError as error:
        last = source.text.rstrip().count("\n") + 1
        problems.add("toml-syntax", error.message, Place(last if error.line is None else error.line, error.column))
    except OverBudget as over:
        problems.add("too-large", over.message, Place(1, 1), over.hint)
    else:
        if type(node) is tree.Mapping:
            return problems, node
        problems.add("wrong-type", f"tool.{name} is not a table", node)
    return problems, None


class _TomlTree:
    """Plain data as a tree. The parser does not say where a text stands: it is where it is written next."""

    def __init__(self, source: Source, table: str) -> None:
        self._source = source
        self._line, self._line_start, self._placed = 1, 0, 0
        head = re.search(rf"^[^#\n]*\btool\b[^\n]*{re.escape(table)}", source.text, re.MULTILINE)
        self._at = max(0, source.text.find(table) if head is None else head.end() - len(table))

    def node(self, value: object) -> Node:
        """A value, which is written behind the last one. Errors: OverBudget."""
        if isinstance(value, Mapping | list) and len(value) > MAX_PROJECT_ENTRIES:
            raise OverBudget(f"a table or list has more than {MAX_PROJECT_ENTRIES} entries", "remove some")
        if isinstance(value, Mapping):
            pairs = tuple((self._next(key, key), self.node(item)) for key, item in value.items())
            return tree.Mapping(pairs, *(pairs[0][0][2:] if pairs else self._place()))
        if isinstance(value, list):
            at = self._place_of_value()
            return tree.Sequence(tuple(map(self.node, value)), *at)
        if isinstance(value, str):
            return self._next(value, f'"{value}"', f"'{value}'")
        return self._next(str(value).lower(), str(value).lower())

    def _next(self, text: str, *written: str) -> Scalar:
        """A text as it is written in one of some ways; where it is not found, at the end of the one before."""
        self._source.budget.spend(weight(text))
        finds = {self._source.text.find(way, self._at, self._at + _REACH): len(way) for way in written}
        start = min((start for start in finds if start >= 0), default=None)
        if start is None:
            return Scalar(text, written == (text,), *self._place_of_value())
        self._at = start
        place = self._place()
        self._at = start + finds[start]
        return Scalar(text, written == (text,), *place)

    def _place_of_value(self) -> tuple[int, int]:
        """The place behind the blanks, and the ``=``, that follow the text before."""
        if (match := _BEFORE_VALUE.match(self._source.text, self._at)) is not None:
            self._at = match.end()
        return self._place()

    def _place(self) -> tuple[int, int]:
        text, before, self._placed = self._source.text, self._placed, self._at
        if lines := text.count("\n", before, self._at):
            self._line, self._line_start = self._line + lines, text.rindex("\n", before, self._at) + 1
        return self._line, self._at - self._line_start + 1
