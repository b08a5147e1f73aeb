"""TOML files, and a table of one as a tree. The parser is slow for long keys, which are refused."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from dispatch_cli.declarations import tree
from dispatch_cli.declarations.problems import Problems
from dispatch_cli.declarations.source import Place, Source
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
_PLACE = re.compile(r"\(at line (\d+), column (\d+)\)$")


class TomlError(ValueError):
    """A text is not TOML, or more than is read. line, column: where; None at its end."""

    def __init__(self, message: str, line: int | None = None, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


@lru_cache(maxsize=1)  # a command may read some fields before the others
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
        match = _PLACE.search(str(error))
        message = _PLACE.sub("", str(error)).strip()[:MAX_MESSAGE] or "it is not TOML"
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
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", source.text))]
        head = re.search(rf"^[^#\n]*\btool\b[^\n]*{re.escape(table)}", source.text, re.MULTILINE)
        self._at = max(0, source.text.find(table) if head is None else head.end() - len(table))

    def node(self, value: object) -> Node:
        """A value, which is written behind the last one. Errors: OverBudget."""
        if isinstance(value, Mapping | list) and len(value) > MAX_PROJECT_ENTRIES:
            raise OverBudget(f"a table or list has more than {MAX_PROJECT_ENTRIES} entries", "remove some")
        if isinstance(value, Mapping):
            pairs = tuple((self._scalar(key, key), self.node(item)) for key, item in value.items())
            return tree.Mapping(pairs, *(pairs[0][0][2:] if pairs else self._place("{")))
        if isinstance(value, list):
            at = self._place("[")
            return tree.Sequence(tuple(map(self.node, value)), *at)
        if isinstance(value, str):
            return self._scalar(value, f'"{value}"', f"'{value}'")
        return self._scalar(str(value).lower(), str(value).lower())

    def _scalar(self, text: str, *written: str) -> Scalar:
        self._source.budget.spend(weight(text))
        return Scalar(text, written == (text,), *self._place(*written))

    def _place(self, *written: str) -> tuple[int, int]:
        """The next place where a text is written in one of these ways; that behind the last one where it is not."""
        finds = {self._source.text.find(way, self._at, self._at + _REACH): way for way in written}
        start = min((start for start in finds if start >= 0), default=self._at)
        self._at = start + len(finds.get(start, ""))
        line = bisect_right(self._line_starts, start)
        return line, start - self._line_starts[line - 1] + 1
