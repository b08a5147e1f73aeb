"""CMake files: the sources of each library, and the lists that they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from dispatch_cli.extract.builds.source_lists import (
    BRANCHED,
    MAX_BRANCHES,
    MAX_ITEMS,
    MAX_PATH,
    UNKNOWN,
    Branch,
    SourceItem,
    SourceList,
    otherwise,
    within,
)
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.span import Span

_TOKEN = re.compile(
    r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)|([()])|([^\s()"#]+)|#\[(=*)\[(?:.*?\]\4\]|.*)|#[^\n]*', re.DOTALL
)
"""A token; one that is not closed ends with the file, so that each character is read once."""
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_TARGET = re.compile(r"(?:.*_)?(?:library|executable|module|sources|extension|target)")
_HERE = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")
_TOP = ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR")
MAX_TEXT = 500_000
"""Characters that variables in one argument may stand for."""
_OPTIONS = frozenset({"CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS", "PARENT_SCOPE"})
_BEGIN_OR_END = ("if", "elseif", "else", "endif")


def cmake_lists(text: str, name: str, spend: Callable[[int], None]) -> list[SourceList]:
    """The lists of sources of a CMake file. spend: is told the units of work. Errors: OverWork."""
    reader = _CMakeReader(spend)
    end = 0
    try:
        for number, (command, arguments, end) in enumerate(_commands(text, spend)):  # noqa: B007
            reader.run(number, command.lower(), arguments)
    except OverWork as error:
        error.at = Span(name, text.count("\n", 0, end) + 1, 1)
        raise
    return reader.lists()


def _commands(text: str, spend: Callable[[int], None]) -> Iterator[tuple[str, list[tuple[str, bool]], int]]:
    """Commands of a text, each with its arguments, true for quoted ones, and the end of the command."""
    name, depth = "", 0
    arguments: list[tuple[str, bool]] = []
    for token in _TOKEN.finditer(text):
        spend(2)
        quoted, bracket, plain = token[1], token[2], token[3]
        if bracket == "(":
            depth += 1
        elif bracket == ")":
            depth = max(depth - 1, 0)
            if not depth:
                yield name, arguments, token.end()
                name, arguments = "", []
        elif depth and (quoted is not None or plain is not None):
            arguments.append((plain if quoted is None else quoted, quoted is not None))
        elif plain is not None:
            name = plain


class _CMakeReader:
    def __init__(self, spend: Callable[[int], None]) -> None:
        self._spend = spend
        self._values: dict[str, SourceList] = {}
        self._lists: list[SourceList] = []
        self._branch: Branch = ()
        self._is_top = False
        self._left_out = 0

    def lists(self) -> list[SourceList]:
        """The lists of all libraries and variables."""
        return [*self._lists, *self._values.values()]

    def run(self, number: int, command: str, arguments: list[tuple[str, bool]]) -> None:
        """Follow a command. number: of the command in its file."""
        if command in _BEGIN_OR_END:
            self._enter(number, command)
        elif command == "project":
            self._is_top = True
        elif command == "set" and arguments:
            self._set(arguments[0][0], self._items(arguments[1:]))
        elif command == "list" and len(arguments) > 1:
            self._change(arguments[0][0].upper(), arguments[1][0], arguments[2:])
        elif command == "file" and len(arguments) > 1 and arguments[0][0].upper() in ("GLOB", "GLOB_RECURSE"):
            items = self._items(arguments[2:])
            if arguments[0][0].upper() == "GLOB_RECURSE":
                items = tuple(item._replace(path=_recursive(item.path)) for item in items)
            self._set(arguments[1][0], items)
        elif _TARGET.fullmatch(command):
            self._lists.append(self._items(arguments))

    def _enter(self, number: int, command: str) -> None:
        if command == "if" and len(self._branch) == MAX_BRANCHES:
            self._left_out += 1
        elif self._left_out:
            self._left_out -= command == "endif"
        elif command == "if":
            self._branch = (*self._branch, (number, 0))
        elif self._branch:
            *around, (begun, step) = self._branch
            self._branch = tuple(around) if command == "endif" else (*around, (begun, step + 1))

    def _set(self, name: str, items: SourceList) -> None:
        before = self._values.get(name, ())
        self._spend(BRANCHED * len(before) if self._branch else len(before) // 20)
        if before and not self._branch:
            self._lists.append(before)
        self._values[name] = (*otherwise(before, self._branch), *items)[:MAX_ITEMS]

    def _change(self, action: str, name: str, arguments: list[tuple[str, bool]]) -> None:
        before = self._values.get(name, ())
        self._spend(len(before) if action == "REMOVE_ITEM" else len(before) // 20 + 1)  # copies are cheap
        if action in ("APPEND", "PREPEND"):
            self._values[name] = (*before, *self._items(arguments))[:MAX_ITEMS]
        elif action == "REMOVE_ITEM":
            gone = {item.path for item in self._items(arguments)}
            self._values[name] = tuple(item for item in before if item.path not in gone and "*" not in item.path)
        elif action == "FILTER":
            self._values[name] = ()  # what is left of it is not known

    def _items(self, arguments: list[tuple[str, bool]]) -> SourceList:
        items: list[SourceItem] = []
        for text, quoted in arguments:
            if len(items) > MAX_ITEMS:
                break
            whole = _VARIABLE.fullmatch(text)
            if whole is not None and whole[1] not in (*_HERE, *_TOP):
                items += self._values.get(whole[1], ())
                continue
            for part in (text,) if quoted else text.split(";"):
                path = self._path(part)
                if path and path not in _OPTIONS:
                    items.append(SourceItem(path))
        self._spend((BRANCHED if self._branch else 2) * len(items))
        return within(items, self._branch)

    def _path(self, text: str) -> str:
        """A path with the values of variables; `UNKNOWN` where it is too long."""
        if (count := text.count("${")) * MAX_PATH > MAX_TEXT:
            return UNKNOWN
        self._spend(2 * count)
        path = _VARIABLE.sub(self._value, text)
        return path if len(path) <= MAX_PATH else UNKNOWN

    def _value(self, match: re.Match[str]) -> str:
        if match[1] in _HERE or (self._is_top and match[1] in _TOP):
            return "."
        values = self._values.get(match[1], ())
        return values[0].path if len(values) == 1 else UNKNOWN


def _recursive(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}**/{name}"
