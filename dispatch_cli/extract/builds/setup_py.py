"""Build scripts in Python: the sources of each extension, as far as literals, globs and joined paths say them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import islice, product
from typing import NamedTuple

from dispatch_cli.extract.builds.source_lists import (
    BRANCHED,
    HERE,
    MAX_ITEMS,
    MAX_PATH,
    UNKNOWN,
    Branch,
    SourceItem,
    SourceList,
    joined,
    otherwise,
    within,
)
from dispatch_cli.extract.python.modules import UnreadablePython, parse_python
from dispatch_cli.extract.work import OverWork
from dispatch_cli.model.span import Span

STEP = 3
"""Units of work of an expression or statement."""
MAX_TEXTS = 50
"""Texts that an expression can stand for."""
MAX_DEPTH = 60
"""Expressions and statements that nest."""
_SCRIPT = f"{HERE}/setup.py"
_SAME = frozenset({"list", "sorted", "set", "tuple", "str", "Path", "PurePath", "abspath", "realpath", "normpath"})
_SAME_METHODS = frozenset({"resolve", "absolute", "as_posix", "copy", "strip"})


class _PathValue(NamedTuple):
    """Texts, each of which an expression may be; or, as a list, what is in it."""

    items: SourceList
    is_list: bool = False


_NOT_KNOWN = _PathValue((SourceItem(UNKNOWN),))


def setup_lists(text: str, name: str, spend: Callable[[int], None]) -> list[SourceList]:
    """The lists of sources of a build script. spend: is told the units of work. Errors: OverWork."""
    reader = _SetupReader(name, spend)
    with suppress(UnreadablePython):
        reader.run(parse_python(text).body, 0)
    return reader.lists


class _SetupReader:
    def __init__(self, name: str, spend: Callable[[int], None]) -> None:
        self._name = name
        self._spend = spend
        self.lists: list[SourceList] = []
        self._values: dict[str, _PathValue] = {"__file__": _PathValue((SourceItem(_SCRIPT),))}
        self._branch: Branch = ()

    def run(self, statements: Sequence[ast.stmt], depth: int, function: str = "") -> None:
        """Follow statements in order. function: that they are the body of."""
        for statement in statements:
            if depth > MAX_DEPTH:
                return
            try:
                self._spend(STEP)
                self._statement(statement, depth, function)
            except OverWork as error:
                error.at = error.at or Span(self._name, statement.lineno, statement.col_offset + 1)
                raise

    def _statement(self, statement: ast.stmt, depth: int, function: str) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                result = self._evaluate(value, depth)
                for target in targets:
                    if isinstance(target, ast.Name):
                        self._assign(target.id, result)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._assign(name, self._evaluate(value, depth))
            case ast.AugAssign(target=ast.Name(id=name), op=ast.Add(), value=value):
                self._extend(name, self._evaluate(value, depth))
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method), args=[value])) if (
                method in ("append", "extend") and name in self._values
            ):
                self._extend(name, self._evaluate(value, depth))
            case ast.Expr(value=value):
                self._evaluate(value, depth)
            case ast.If(body=body, orelse=orelse):
                around = self._branch
                for step, branch in enumerate((body, orelse)):
                    self._branch = (*around, (id(statement), step))
                    self.run(branch, depth + 1, function)
                self._branch = around
            case ast.For(target=target, iter=values, body=body):
                if isinstance(target, ast.Name):
                    self._assign(target.id, _PathValue(self._evaluate(values, depth).items[:MAX_TEXTS]))
                self.run(body, depth + 1, function)
            case ast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=finalbody):
                for part in (body, *(handler.body for handler in handlers), orelse, finalbody):
                    self.run(part, depth + 1, function)
            case ast.With(body=body) | ast.While(body=body):
                self.run(body, depth + 1, function)
            case ast.FunctionDef(name=name, body=body):
                self._spend(len(self._values) // 8)
                outer, around = dict(self._values), self._branch
                self.run(body, depth + 1, name)
                returned = self._values.get("return")
                self._values, self._branch = outer, around
                if returned is not None:
                    self._values[f"{name}()"] = returned
            case ast.ClassDef(body=body):
                self.run(body, depth + 1)
            case ast.Return(value=ast.expr() as value):
                result = self._evaluate(value, depth)
                self._extend("return", result._replace(items=within(result.items, self._branch)))
                if function == "sources":
                    self.lists.append(result.items)

    def _assign(self, name: str, value: _PathValue) -> None:
        before = self._values.get(name)
        kept: SourceList = ()
        if before is not None and self._branch:
            self._spend(BRANCHED * len(before.items))
            kept = otherwise(before.items, self._branch)
        if self._branch:
            self._spend(BRANCHED * len(value.items))
        items = (*kept, *within(value.items, self._branch))
        self._values[name] = _PathValue(items[:MAX_ITEMS], value.is_list)

    def _extend(self, name: str, value: _PathValue) -> None:
        before = self._values.get(name, _PathValue(()))
        self._spend(len(before.items) // 20 + BRANCHED * len(value.items))  # copies are cheap
        self._values[name] = _PathValue((*before.items, *within(value.items, self._branch))[:MAX_ITEMS], True)

    def _evaluate(self, node: ast.expr, depth: int) -> _PathValue:
        self._spend(STEP)
        if depth > MAX_DEPTH:
            return _NOT_KNOWN
        match node:
            case ast.Constant(value=str(text)):
                return _PathValue((SourceItem(text),))
            case ast.Name(id=name):
                return self._values.get(name, _NOT_KNOWN)
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                items: list[SourceItem] = []
                for element in elements:
                    items += self._evaluate(element, depth + 1).items[: MAX_ITEMS - len(items)]
                self._spend(len(items) // 20)
                return _PathValue(tuple(items), True)
            case ast.Starred(value=value):
                return self._evaluate(value, depth + 1)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as operator, right=right):
                return self._added(operator, self._evaluate(left, depth + 1), self._evaluate(right, depth + 1))
            case ast.JoinedStr(values=values):
                return self._text([self._evaluate(value, depth + 1) for value in values], "")
            case ast.FormattedValue(value=value):
                return self._evaluate(value, depth + 1)
            case ast.IfExp(body=body, orelse=orelse):
                parts = [self._evaluate(part, depth + 1) for part in (body, orelse)]
                self._spend(2 * sum(len(part.items) for part in parts))
                items = [item for step, part in enumerate(parts) for item in within(part.items, ((id(node), step),))]
                return _PathValue(tuple(items)[:MAX_ITEMS], any(part.is_list for part in parts))
            case (
                ast.ListComp(elt=element, generators=[generator])
                | ast.GeneratorExp(elt=element, generators=[generator])
            ):
                return self._comprehension(element, generator, depth)
            case ast.Attribute(value=value, attr="parent"):
                return _parent(self._evaluate(value, depth + 1))
            case ast.Call():
                return self._call(node, depth + 1)
        return _NOT_KNOWN

    def _comprehension(self, element: ast.expr, generator: ast.comprehension, depth: int) -> _PathValue:
        values = self._evaluate(generator.iter, depth + 1)
        if not isinstance(generator.target, ast.Name) or not values.is_list:
            return _NOT_KNOWN
        self._spend(len(self._values) // 8 + 2 * len(values.items))
        before = dict(self._values)
        items: list[SourceItem] = []
        for item in values.items:
            self._values[generator.target.id] = _PathValue((item,))
            items += self._evaluate(element, depth + 1).items
            if len(items) > MAX_ITEMS:
                break
        self._values = before
        return _PathValue(tuple(items)[:MAX_ITEMS], True)

    def _call(self, node: ast.Call, depth: int) -> _PathValue:
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        arguments = [self._evaluate(argument, depth) for argument in node.args]
        for keyword in node.keywords:
            value = self._evaluate(keyword.value, depth)
            if keyword.arg == "sources":
                self.lists.append(value.items)
        if name.endswith("Extension") and len(arguments) > 1:
            self.lists.append(arguments[1].items)
        if name in ("glob", "iglob", "rglob"):
            return self._glob(name, owner, arguments, depth)
        if name == "join" and arguments and not isinstance(owner, ast.Constant):
            return self._text(arguments, "/")
        if name == "dirname" and arguments:
            return _parent(arguments[0])
        if name == "getcwd":
            return _PathValue((SourceItem(HERE),))
        if name == "relpath" and arguments:
            items = arguments[0].items
            self._spend(2 * len(items))
            return _PathValue(tuple(item._replace(path=item.path.removeprefix(f"{HERE}/")) for item in items))
        if name in _SAME and arguments:
            return arguments[0]
        if name in _SAME_METHODS and owner is not None:
            return self._evaluate(owner, depth)
        return self._values.get(f"{name}()", _NOT_KNOWN)

    def _glob(self, name: str, owner: ast.expr | None, arguments: list[_PathValue], depth: int) -> _PathValue:
        """The paths of a glob; ``Path.glob`` is from its path."""
        if not arguments:
            return _NOT_KNOWN
        parts = arguments[:1]
        if owner is not None and not (isinstance(owner, ast.Name) and owner.id == "glob"):
            folders = [_PathValue((SourceItem("**"),))] if name == "rglob" else []
            parts = [self._evaluate(owner, depth), *folders, *parts]
        return self._text(parts, "/")._replace(is_list=True)

    def _added(self, operator: ast.operator, left: _PathValue, right: _PathValue) -> _PathValue:
        if isinstance(operator, ast.Div):
            return self._text([left, right], "/")
        if left.is_list or right.is_list:
            self._spend((len(left.items) + len(right.items)) // 20)
            return _PathValue((*left.items, *right.items)[:MAX_ITEMS], True)
        return self._text([left, right], "")

    def _text(self, parts: Sequence[_PathValue], separator: str) -> _PathValue:
        """The texts that parts can make."""
        texts: list[SourceItem] = [SourceItem("")]
        for part in parts:
            combined = []
            self._spend(5 * min(len(texts) * len(part.items), MAX_TEXTS))
            for before, item in islice(product(texts, part.items), MAX_TEXTS):
                text = joined(before.path, item.path) if separator and before.path else before.path + item.path
                if len(text) > MAX_PATH:
                    return _NOT_KNOWN
                combined.append(SourceItem(text, within([item], before.branch)[0].branch))
            texts = combined
        return _PathValue(tuple(texts))


def _parent(value: _PathValue) -> _PathValue:
    """The folders of paths."""
    return value._replace(items=tuple(item._replace(path=_folder(item.path)) for item in value.items))


def _folder(path: str) -> str:
    if path in (".", HERE) or UNKNOWN in path:
        return UNKNOWN if UNKNOWN in path else f"{path}/.."
    return path.rpartition("/")[0] or "."
