"""The Python modules of a run: their text, their trees, and which file an import means."""

from __future__ import annotations

import ast
import os
import re
import sys
import warnings
from collections.abc import Sequence
from itertools import takewhile
from pathlib import PurePath

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract.python.names import CALLED, TreeFacts, tree_facts
from dispatch_cli.extract.sources import Sources
from dispatch_cli.extract.work import OverWork
from dispatch_cli.files.paths import inside

MAX_PYTHON_BYTES = 2 << 20
"""Characters of a Python file that is parsed. The largest of PyTorch's has 1.2 million."""
MAX_TOKENS = 250_000 if sys.version_info >= (3, 11) else 40_000
"""Maximum number of signs between expressions in a file that is parsed: each costs up to 900 bytes of tree.

Python 3.10 crashes on some 50,000 operators in a row.
"""
_BETWEEN = ",()[]{}.=+-*/%&|^<>:;@~\n"

MAX_DOTS = 1_000
"""Dots of a line with an import."""
_IMPORTING = re.compile(r"\b(?:from|import)\b")

_FROM = re.compile(r"^[ \t]*from[ \t]+[\w.]+[ \t]+import[ \t]+(\([^)]*(?:\)|\Z)|[^\n]*)", re.MULTILINE)
_WORDS = re.compile(r"\w+")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TABLE = re.compile(r"(?:[-+]?\d[\w.+-]*,\s*){100,}")
"""Numbers of a table, which a large file is read without."""


def parse_python(text: str) -> ast.Module:
    """The tree of a file. Errors: `SourceError`, for whatever the text is."""
    if len(text) > MAX_PYTHON_BYTES:
        raise SourceError("too-large", f"the file has more than {MAX_PYTHON_BYTES >> 20} million characters")
    if tokens_of(text) > MAX_TOKENS:
        text = _TABLE.sub(lambda table: "\n" * table[0].count("\n"), text)
    if tokens_of(text) > MAX_TOKENS:
        raise SourceError("too-large", "the file has too many expressions")
    lines = re.sub(r"\\\r?\n", " ", text).split("\n")
    if any(line.count(".") > MAX_DOTS and _IMPORTING.search(line) for line in lines):  # Python joins them anew for each
        raise SourceError("too-large", f"a name in an import has more than {MAX_DOTS} parts")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.removeprefix("\ufeff"))
    except SyntaxError as error:
        raise SourceError("syntax", f"it is not valid Python: {error.msg}", line=error.lineno or 1) from None
    except (RecursionError, MemoryError):
        raise SourceError("too-large", "its statements or expressions are nested too deeply") from None
    except ValueError as error:
        raise SourceError("syntax", f"it is not valid Python: {error}") from None


def tokens_of(text: str) -> int:
    """The signs between the expressions of a text: about its tokens."""
    return sum(map(text.count, _BETWEEN))


class ModuleIndex:
    """Files of modules, by their dotted names. unread: those that cannot be read, or that are not Python."""

    def __init__(self, files: Sequence[str], sources: Sources) -> None:
        self._sources = sources
        self.unread: dict[str, SourceError] = {}
        self._trees: dict[str, ast.Module] = {}
        self._facts: dict[str, TreeFacts] = {}
        self._words: dict[str, frozenset[str] | None] = {}
        self._texts: dict[str, str] = {}
        self._lines: dict[str, list[str]] = {}
        self.files = {str(PurePath(inside(file))): file for file in files}
        self._packages = {
            str(PurePath(file).parent) for file in self.files if PurePath(file).name in ("__init__.py", "__init__.pyi")
        }
        self._named = {file: self._dotted(PurePath(inside(file))) for file in files}
        self._by_last: dict[str, list[str]] = {}
        for file, name in self._named.items():
            self._by_last.setdefault(name.rpartition(".")[2], []).append(file)
        self._resolved: dict[tuple[str, str], str | None] = {}
        self._parts = {file: PurePath(inside(file)).parts for file in files}

    def dotted(self, file: str) -> str:
        """The name under which the module is imported."""
        return self._named[file]

    def _dotted(self, path: PurePath) -> str:
        parts = [] if path.stem == "__init__" else [path.stem]
        folder = path.parent
        while str(folder) in self._packages:
            parts.append(_package_name(folder))
            if folder.parent == folder:
                break
            folder = folder.parent
        return ".".join(reversed(parts)) or _package_name(path.parent)

    def text(self, file: str) -> str:
        """The text of a file; empty where it cannot be read."""
        if file not in self._texts:
            self._texts[file] = ""
            try:
                self._texts[file] = self._sources.read(file)
            except SourceError as error:
                self.unread[file] = error
        return self._texts[file]

    def line(self, file: str, number: int) -> str:
        """A line of a file; empty where it has not so many."""
        if file not in self._lines:
            self._lines[file] = self.text(file).split("\n")
        return "".join(self._lines[file][number - 1 : number])

    def mentions(self, file: str, name: str) -> bool:
        """True if the text of a module may bind a name: it has the name, or takes all names of another module."""
        if file not in self._words:
            text = self.text(file)
            self._words[file] = None if "import *" in text else frozenset(_WORDS.findall(text))
        words = self._words[file]
        return words is None or name in words

    def facts(self, file: str) -> TreeFacts:
        """Facts about the tree of a file."""
        if file not in self._facts:
            self._facts[file] = tree_facts(self.tree(file))
        return self._facts[file]

    def helpers(self, files: Sequence[str]) -> frozenset[str]:
        """The names of functions of these files that register something when they are called."""
        calls: dict[str, set[str]] = {}
        for file in files:
            for name, called in self.facts(file).called.items():
                calls.setdefault(name, set()).update(called)
        registering = {name for name, called in calls.items() if called & CALLED}
        for _ in range(4):
            more = {name for name, called in calls.items() if name not in registering and called & registering}
            if not more:
                break
            registering |= more
        return frozenset(name for name in registering if not name.startswith("__") and name not in CALLED)

    def tree(self, file: str) -> ast.Module:
        """The tree of a file; empty where it is in `unread`."""
        if file not in self._trees:
            self._trees[file] = ast.Module([], [])
            text = self.text(file)
            try:
                with self._sources.work.file(file):
                    self._sources.work.spend(tokens_of(text))
                self._trees[file] = parse_python(text)
            except OverWork as error:
                self.unread[file] = SourceError("too-large", error.why)
            except SourceError as error:
                self.unread[file] = error
        return self._trees[file]

    def relative(self, file: str, level: int, name: str) -> str | None:
        """The file of ``from ..name import``; None where it is not in the sources."""
        folder = PurePath(inside(file)).parent
        for _ in range(level - 1):
            folder = folder.parent
        base = folder.joinpath(*name.split("."))
        if name and (module := self.files.get(f"{base}.py")):
            return module
        return self.files.get(str(base / "__init__.py"))

    def absolute(self, name: str, importer: str) -> str | None:
        """The file of ``import name``; None where it is not in the sources. importer: the nearest one to it wins."""
        key = name, os.path.dirname(importer)  # noqa: PTH120
        if key not in self._resolved:
            alike = self._by_last.get(name.rpartition(".")[2], ())
            self._sources.work.spend(3 * len(alike) + len(name) // 16)
            called = [file for file in alike if self._is_called(file, name)]
            candidates, theirs = called or self._in_search_path(name, importer), self._parts[importer]
            self._resolved[key] = max(candidates, key=lambda file: _nearness(self._parts[file], theirs), default=None)
        return self._resolved[key]

    def _in_search_path(self, name: str, importer: str) -> list[str]:
        """The files of that name beside the importer; in any folder, where it changes ``sys.path``."""
        if "." in name or name == "torch" or name in sys.stdlib_module_names:
            return []
        anywhere = "sys.path" in self.text(importer)
        folder = PurePath(importer).parent
        files = (file for file in self._by_last.get(name, ()) if PurePath(file).stem == name)
        return [file for file in files if anywhere or PurePath(file).parent == folder]

    def _is_called(self, file: str, name: str) -> bool:
        """True if a file may be a module of that name: a folder without ``__init__.py`` may be a package, too."""
        own, parts, path = self._named[file], name.split("."), PurePath(inside(file)).with_suffix("")
        folders = (path.parent if path.stem == "__init__" else path).parts
        return own == name or (name.endswith(f".{own}") and [*folders[-len(parts) :]] == parts)


def _package_name(folder: PurePath) -> str:
    name = folder.name or PurePath(os.path.abspath(folder)).name  # noqa: PTH100
    match = _NAME.match(name)
    return match[0] if match else name


def _nearness(ours: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[int, int]:
    common = takewhile(lambda pair: pair[0] == pair[1], zip(ours, theirs, strict=False))
    return len([*common]), -len(ours)


def imported_names(text: str) -> set[str]:
    """The names in the ``from … import`` statements of a text."""
    return {name for statement in _FROM.finditer(text) for name in _WORDS.findall(statement[1])}
