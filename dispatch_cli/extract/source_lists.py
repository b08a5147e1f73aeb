"""Lists of sources in a ``setup.py`` and in files of CMake: what is in one library, and what no build has."""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatch

from dispatch_cli.declarations.source import MAX_SOURCE_BYTES, SourceError, read_plain
from dispatch_cli.extract.kinds import is_build_script
from dispatch_cli.extract.left_out import Walked
from dispatch_cli.files import paths
from dispatch_cli.model.sources.extracted import SourceKind

_ADDS = frozenset({"append", "extend", "insert"})
_HERE = re.compile(
    r"(?:os\.path\.(?:abs|real)path\()?os\.path\.dirname\((?:os\.path\.(?:abs|real)path\()?"
    r"(?:__file__|os\.path\.curdir)\)+|(?:pathlib\.)?Path\(__file__\)(?:\.resolve\(\))?\.parent"
)
"""Expressions for the folder of a script."""
MOST_STEPS = 2_000
"""Expressions of a script that are followed."""
MAX_TEXT = 4096
"""Characters of a name or path that is made of several."""
_COMMENT = re.compile(r"#[^\n]*")
_CMAKE_LIST = re.compile(
    r"\b(?!\w*custom_target\b)(set|\w*(?:library|executable|module|sources|extension|target))[ \t]*\(([^()]*)\)"
)
_CMAKE_VARIABLE = re.compile(r"\$\{(\w+)\}")
_CMAKE_NAME = re.compile(r"(?:\$\{CMAKE_CURRENT_(?:SOURCE|LIST)_DIR\}/)?([^\s\"]+)")
_SOURCE_NAME = re.compile(r"[\w./+*-]+\.(?:c|cc|cpp|cxx|cu|hip|mm|mu|mlu|sycl|\w{1,2}\*)(?![\w.])")
_REMOVES = re.compile(r"\bREMOVE_ITEM\b|\bFILTER\b")
"""Signs that something named in a list is taken out of it."""


def cmake_lists(texts: Sequence[str]) -> list[list[set[str]]]:
    """For each text, the files that each of its lists names; none of a text that removes some.

    A variable counts where a list of any text has it.
    """
    commands = [[] if _REMOVES.search(text) else _CMAKE_LIST.findall(_COMMENT.sub("", text)) for text in texts]
    used = {variable for each in commands for _, names in each for variable in _CMAKE_VARIABLE.findall(names)}
    return [
        [
            set(_CMAKE_NAME.findall(names))
            for command, names in each
            if command != "set" or not used.isdisjoint(names.split(maxsplit=1)[:1])
        ]
        for each in commands
    ]


def unlisted(walked: Walked) -> list[str]:
    """The files that register in the namespace of an extension, and that no build has, as its lists of sources say.

    No build file names such a file or has a pattern for it, nor does a Python file, which could build it when it runs;
    and a build file in a folder above names others of them.
    """
    python = walked.files.get(SourceKind.PYTHON, ())
    words = {name: _source_names(name) for name in (*walked.builds, *filter(is_build_script, python))}
    naming = {file: [name for name, those in words.items() if _has_file(those, file)] for file in walked.extensions}
    folders = {paths.absolute(paths.folder_of(name)) for names in naming.values() for name in names}
    unnamed = [
        file
        for file, names in naming.items()
        if not (names or file in walked.named or folders.isdisjoint(paths.above(paths.folder_of(file))))
    ]
    others = frozenset(name for file in python if unnamed for name in _source_names(file))
    return [file for file in unnamed if not _has_file(others, file)]


def _source_names(file: str) -> frozenset[str]:
    """The names of C++ files in a text, as they end the paths of these; with ``*`` for any text."""
    try:
        text = _COMMENT.sub("", read_plain(file, MAX_SOURCE_BYTES).decode("utf-8", "replace"))
    except SourceError:
        return frozenset()
    return frozenset(word.lstrip("./") for word in _SOURCE_NAME.findall(text))


def _has_file(names: frozenset[str], file: str) -> bool:
    parts = paths.inside(file).split("/")
    return any("/".join(parts[start:]) in names for start in range(len(parts))) or any(
        fnmatch(file, f"*{name}") for name in names if "*" in name
    )


def setup_lists(text: str) -> list[tuple[str, set[str]]]:
    """The name of each extension of a script, empty where it is not known, and the sources that it surely has.

    Sources are paths from the folder of the script, some with ``*`` in the last part.
    """
    if ".sources" in text or "chdir" in text:
        return []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            script = _Script(ast.parse(text))
        return [(script.text(name) or "", set(script.sources(node))) for name, node in script.lists]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


class _Script:
    """A script. lists: the names and sources in its calls of ``CppExtension`` and the like."""

    def __init__(self, tree: ast.Module) -> None:
        self.lists: list[tuple[ast.expr, ast.expr]] = []
        self._values: dict[str, ast.expr] = {}
        self._bound: Counter[str] = Counter()
        self._uses: Counter[str] = Counter()
        self._harmless: Counter[str] = Counter()
        """Uses of a name that take nothing out of a list."""
        self._left = MOST_STEPS
        for node in ast.walk(tree):
            self._note(node)

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                self._uses[name] += 1
            case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name):
                self._bound[name] += 1
            case ast.alias(name=name, asname=other):
                self._bound[other or name] += 1
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._values[name] = value
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                self._bound[name] -= 1
                self._take(value)
            case ast.Call(func=func, args=args, keywords=keywords) if dotted(func).lower().endswith("extension"):
                given = {keyword.arg: keyword.value for keyword in keywords}
                given |= dict(zip(("name", "sources"), args, strict=False))
                if given.keys() >= {"name", "sources"}:
                    self.lists.append((given["name"], given["sources"]))
                    self._take(given["sources"])
            case ast.Attribute(value=value, attr=name) if name in _ADDS:
                self._take(value)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                self._take(left, right)
            case ast.For(iter=value):
                self._take(value)

    def _take(self, *nodes: ast.expr) -> None:
        self._harmless.update(node.id for node in nodes if isinstance(node, ast.Name))

    def sources(self, node: ast.expr) -> Iterator[str]:
        """Sources that a list surely has; what is added to it does not matter."""
        self._left -= 1
        if self._left < 0:
            return
        match node:
            case ast.List(elts=items):
                yield from (path for item in items if (path := self.text(item)) is not None and "*" not in path)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self.sources(left)
                yield from self.sources(right)
            case ast.Call(func=ast.Name(id="list" | "sorted"), args=[inner], keywords=[]):
                yield from self.sources(inner)
            case ast.Call(func=func, args=[pattern], keywords=[]) if dotted(func) == "glob.glob":
                path = self.text(pattern)
                if path is not None and "*" not in path.rpartition("/")[0]:
                    yield path
            case ast.Name(id=name) if self._uses[name] == self._harmless[name] and (value := self._value(name)):
                yield from self.sources(value)

    def _value(self, name: str) -> ast.expr | None:
        """The value of a name that is bound once."""
        return self._values.get(name) if self._bound[name] == 1 and not self._bound["*"] else None

    def text(self, node: ast.expr) -> str | None:
        """A constant text, or a path from the folder of the script; None where it is not known."""
        self._left -= 1
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name) if self._left > 0:
                value = self._value(name)
                return None if value is None else self.text(value)
            case ast.JoinedStr(values=parts):
                return self._joined(
                    "", [each.value if isinstance(each, ast.FormattedValue) else each for each in parts]
                )
            case ast.Call(func=func, args=args, keywords=[]) if dotted(func) == "os.path.join":
                return self._joined("/", args)
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined("/", (left, right))
        return "." if _HERE.fullmatch(ast.unparse(node)) else None

    def _joined(self, between: str, nodes: Iterable[ast.expr]) -> str | None:
        texts: list[str] = []
        left = MAX_TEXT
        for node in nodes:
            text = self.text(node)
            if text is None or len(text) > left:
                return None
            texts.append(text)
            left -= len(text)
        return between.join(texts)


def dotted(node: ast.expr) -> str:
    """A dotted name; empty for another expression."""
    if isinstance(node, ast.Attribute):
        return f"{before}.{node.attr}" if (before := dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""
