"""Extension modules of a ``setup.py``, with sources that each surely has.

Of a list of sources, what is added to it does not matter, and a variable counts where nothing can take something out.
"""

from __future__ import annotations

import ast
import posixpath
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

_ADDS = frozenset({"append", "extend", "insert", "sort"})
_READS = frozenset({"list", "sorted", "tuple", "set", "len", "print"})
_HERE = frozenset({"__file__", "os.path.curdir"})
_SAME = frozenset({"os.path.abspath", "os.path.realpath", "os.path.normpath", "str", "Path", "pathlib.Path"})
_GLOBS = frozenset({"glob.glob", "glob"})
MAX_PATH = 4096
MOST_STEPS = 20_000
"""Expressions of a script that are followed; variables can stand for long texts."""


class Extension(NamedTuple):
    """A call that makes an extension.

    name: None where it is no constant. sources: paths from the folder of the script, some with ``*``.
    """

    name: str | None
    sources: tuple[str, ...]


def extensions_of(text: str) -> list[Extension]:
    """The extensions of a script; none where it cannot be parsed, or changes sources of an extension afterwards."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        script = _Script(tree)
        return list(script.extensions()) if ".sources" not in text and script.stays_in_its_folder() else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


class _Script:
    """A script. bound: the number of bindings of each name. values: of a name that is assigned once."""

    def __init__(self, tree: ast.Module) -> None:
        self._nodes = list(ast.walk(tree))
        self._parents = {id(child): node for node in self._nodes for child in ast.iter_child_nodes(node)}
        self._bound = Counter(name for node in self._nodes for name in self._names_bound_by(node))
        self._imported = Counter(
            name for node in self._nodes if isinstance(node, ast.alias) for name in self._names_bound_by(node)
        )
        self._left = MOST_STEPS
        self._own = {node.name for node in self._nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
        self._uses: dict[str, list[ast.Name]] = {}
        for node in self._nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                self._uses.setdefault(node.id, []).append(node)
        self._values = {
            node.targets[0].id: node.value
            for node in self._nodes
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name)
        }

    def stays_in_its_folder(self) -> bool:
        """True if paths that are not absolute begin in the folder of the script."""
        calls = (node for node in self._nodes if isinstance(node, ast.Call) and _dotted(node.func) == "os.chdir")
        return all(len(call.args) == 1 and self._text(call.args[0]) == "." for call in calls)

    def extensions(self) -> Iterator[Extension]:
        """The extensions, in no order."""
        for node in self._nodes:
            if isinstance(node, ast.Call) and self._is_extension(node.func):
                given = {keyword.arg: keyword.value for keyword in node.keywords}
                given |= dict(zip(("name", "sources"), node.args, strict=False))
                if "name" in given and "sources" in given:
                    yield Extension(self._text(given["name"]), tuple(self._sources(given["sources"], 0)))

    def _names_bound_by(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                parent = self._parents[id(node)]
                if not (isinstance(parent, ast.AugAssign) and isinstance(parent.op, ast.Add)):
                    yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.arg(arg=name):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name

    def _value_of(self, name: str) -> ast.expr | None:
        is_sure = self._bound[name] == 1 and not self._imported["*"]
        return self._values.get(name) if is_sure else None

    def _is_imported(self, func: ast.expr) -> bool:
        """True if the name that a dotted name begins with is bound by imports alone."""
        name = _dotted(func).partition(".")[0]
        return self._bound[name] == self._imported[name]

    def _is_extension(self, func: ast.expr) -> bool:
        match func:
            case ast.Attribute(attr=name):
                return name.endswith("Extension")
            case ast.Name(id=name) if name.endswith("Extension"):
                return name not in self._own
            case ast.Name(id=name):
                value = self._value_of(name)
                choices = [value.body, value.orelse] if isinstance(value, ast.IfExp) else []
                return bool(choices) and all(
                    isinstance(choice, ast.Name) and choice.id.endswith("Extension") and self._is_extension(choice)
                    for choice in choices
                )
        return False

    def _sources(self, node: ast.expr, depth: int) -> Iterator[str]:
        """Sources that a list surely has."""
        self._left -= 1
        if self._left < 0:
            return
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items):
                for item in items:
                    if isinstance(item, ast.Starred):
                        yield from self._sources(item.value, depth)
                    elif (path := self._text(item)) is not None and "*" not in path:
                        yield path
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                yield from self._sources(left, depth)
                yield from self._sources(right, depth)
            case ast.Call(func=ast.Name(id="list" | "sorted"), args=[inner], keywords=[]):
                yield from self._sources(inner, depth)
            case ast.Call(func=func, args=[pattern], keywords=[]) if _dotted(func) in _GLOBS and self._is_imported(
                func
            ):
                path = self._text(pattern)
                if path is not None and not set(posixpath.dirname(path)) & set("*?[") and "[" not in path:
                    yield path
            case ast.Name(id=name) if depth < 9 and self._only_grows(name):
                value = self._value_of(name)
                if value is not None:
                    yield from self._sources(value, depth + 1)

    def _only_grows(self, name: str) -> bool:
        """True if no use of a list takes something out of it, or leads to where that cannot be seen."""
        uses = self._uses.get(name, [])
        self._left -= len(uses)
        return all(map(self._keeps, uses))

    def _keeps(self, node: ast.Name) -> bool:
        parent = self._parents[id(node)]
        match parent:
            case ast.Attribute(attr=name):
                return name in _ADDS
            case ast.Call(func=func):
                return node is not func and (_dotted(func) in _READS or self._is_extension(func))
            case ast.keyword():
                call = self._parents[id(parent)]
                return isinstance(call, ast.Call) and self._is_extension(call.func)
            case ast.Subscript(ctx=ctx):
                return isinstance(ctx, ast.Load)
            case ast.BinOp() | ast.AugAssign() | ast.Starred() | ast.comprehension() | ast.For() | ast.Compare():
                return True
            case ast.If() | ast.UnaryOp() | ast.FormattedValue():
                return True
        return False

    def _text(self, node: ast.expr, depth: int = 0) -> str | None:
        """A constant text, or a path from the folder of the script; None for others."""
        self._left -= 1
        if depth > 9 or self._left < 0:
            return None
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id="__file__"):
                return "__file__"
            case ast.Name(id=name):
                value = self._value_of(name)
                return None if value is None else self._text(value, depth + 1)
            case ast.Attribute() if _dotted(node) in _HERE:
                return "__file__"
            case ast.Attribute(value=inner, attr="parent"):
                return self._folder(inner, depth)
            case ast.JoinedStr(values=parts):
                return self._joined(
                    "", [part.value if isinstance(part, ast.FormattedValue) else part for part in parts], depth
                )
            case ast.BinOp(left=left, op=ast.Div(), right=right):
                return self._joined("/", [left, right], depth)
            case ast.Call(func=func, args=args, keywords=[]) if args:
                match _dotted(func):
                    case "os.path.join":
                        return self._joined("/", args, depth)
                    case "os.path.dirname" if len(args) == 1:
                        return self._folder(args[0], depth)
                    case name if name in _SAME and len(args) == 1:
                        return self._text(args[0], depth + 1)
        return None

    def _folder(self, node: ast.expr, depth: int) -> str | None:
        path = self._text(node, depth + 1)
        return None if path is None else "." if path == "__file__" else posixpath.dirname(path) or "."

    def _joined(self, between: str, parts: list[ast.expr], depth: int) -> str | None:
        texts = [self._text(part, depth + 1) for part in parts]
        known = [text for text in texts if text is not None and text != "__file__"]
        if len(known) < len(parts) or sum(map(len, known)) > MAX_PATH:
            return None
        return posixpath.join(*known) if between else "".join(known)


def _dotted(node: ast.expr) -> str:
    """A dotted name; empty for another expression."""
    if isinstance(node, ast.Attribute):
        return f"{before}.{node.attr}" if (before := _dotted(node.value)) else ""
    return node.id if isinstance(node, ast.Name) else ""
