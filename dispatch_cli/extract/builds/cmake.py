"""CMake files: the sources of each library, and the lists that they are made of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dispatch_cli.extract.builds.source_lists import (
    MAX_BRANCHES,
    MAX_ITEMS,
    MAX_LISTS,
    MAX_PATH,
    MAX_WORK,
    UNKNOWN,
    Branch,
    SourceItem,
    SourceList,
    otherwise,
    within,
)

_TOKEN = re.compile(
    r'"([^"\\]*(?:\\.[^"\\]*)*)(?:"|\\?\Z)|([()])|([^\s()"#]+)|#\[(=*)\[(?:.*?\]\4\]|.*)|#[^\n]*', re.DOTALL
)
"""A token; one that is not closed ends with the file, so that each character is read once."""
_VARIABLE = re.compile(r"\$\{([^${}]*)\}")
_TARGET = re.compile(r"(?:.*_)?(?:library|executable|module|sources|extension|target)")
_HERE = ("CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR")
_TOP = ("CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR")
_OPTIONS = frozenset({"CONFIGURE_DEPENDS", "FOLLOW_SYMLINKS", "PARENT_SCOPE"})
MAX_ARGUMENTS = 200_000
"""Arguments of a file that are looked at."""
_BEGIN_OR_END = ("if", "elseif", "else", "endif")


def cmake_lists(text: str) -> list[SourceList]:
    """The lists of sources of a CMake file."""
    reader = _CMakeReader()
    for number, (command, arguments) in enumerate(_commands(text)):
        if not reader.has_time:
            break
        reader.run(number, command.lower(), arguments)
    return reader.lists()


def _commands(text: str) -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """The commands of a text, each with its arguments, and whether they are quoted."""
    name, depth, count = "", 0, 0
    arguments: list[tuple[str, bool]] = []
    for token in _TOKEN.finditer(text):
        quoted, bracket, plain = token[1], token[2], token[3]
        if bracket == "(":
            depth += 1
        elif bracket == ")":
            depth = max(depth - 1, 0)
            if not depth:
                yield name, arguments
                name, arguments = "", []
        elif depth and (quoted is not None or plain is not None):
            count += 1
            if count > MAX_ARGUMENTS:
                return
            arguments.append((plain if quoted is None else quoted, quoted is not None))
        elif plain is not None:
            name = plain


class _CMakeReader:
    def __init__(self) -> None:
        self._values: dict[str, SourceList] = {}
        self._lists: list[SourceList] = []
        self._branch: Branch = ()
        self._is_top = False
        self._left_out = 0
        self._work = 0

    @property
    def has_time(self) -> bool:
        """True while fewer entries were looked at than `MAX_WORK`."""
        return self._work < MAX_WORK

    def lists(self) -> list[SourceList]:
        """The lists of all libraries and variables."""
        return [*self._lists, *self._values.values()][:MAX_LISTS]

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
        self._work += len(before)
        if before and not self._branch:
            self._lists.append(before)
        self._values[name] = (*otherwise(before, self._branch), *items)[:MAX_ITEMS]

    def _change(self, action: str, name: str, arguments: list[tuple[str, bool]]) -> None:
        before = self._values.get(name, ())
        self._work += len(before) if action == "REMOVE_ITEM" else len(before) // 20 + 1  # copies are cheap
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
        self._work += len(items)
        return within(items, self._branch)

    def _path(self, text: str) -> str:
        """A path with the values of variables; `UNKNOWN` where it is too long."""
        if text.count("${") * MAX_PATH > MAX_WORK:
            return UNKNOWN
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
