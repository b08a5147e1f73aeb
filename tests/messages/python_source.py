"""The errors and warnings of Python source files, read from their syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

WARNERS = frozenset(("warn", "warn_once", "warning", "warning_once", "user_warn", "_warn"))
"""Functions that print a text: of `warnings`, of a logger, and PyTorch's own."""
HOLE = "{}"
"""Placeholder in a template for an expression that is not a name."""


class Found(NamedTuple):
    """A message. text: names in braces stand for what is filled in. error: the exception class, or `warning`."""

    text: str
    error: str
    line: int


def messages(source: str) -> Iterator[Found]:
    """Every ``raise``, ``assert`` with a text, and warning of a module, each with the text that it prints.

    Errors: SyntaxError for what is no Python.
    """
    yield from _in_scope(ast.parse(source), {})


def _in_scope(scope: ast.AST, outer: dict[str, list[ast.expr]]) -> Iterator[Found]:
    """Texts of a module, class or function; *outer*: what the names around it were given."""
    given = {name: list(values) for name, values in outer.items()}
    own: dict[str, list[ast.expr]] = {}
    inner: list[ast.AST] = []
    nodes: list[ast.AST] = []
    pending = list(ast.iter_child_nodes(scope))
    while pending:
        node = pending.pop(0)
        nodes.append(node)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            inner.append(node)
            continue
        for target, value in _assigned(node):
            own.setdefault(target, []).append(value)
        pending = [*ast.iter_child_nodes(node), *pending]
    given.update(own)
    for node in nodes:
        yield from _of(node, given)
    for one in inner:
        yield from _in_scope(one, given)


def _assigned(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name):
                yield target.id, node.value
    elif isinstance(node, (ast.AnnAssign, ast.AugAssign)) and isinstance(node.target, ast.Name) and node.value:
        yield node.target.id, node.value


def _of(node: ast.AST, given: dict[str, list[ast.expr]]) -> Iterator[Found]:
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        error = _name(node.exc.func)
        texts = [text for arg in node.exc.args[:1] for text in _texts(arg, given)] or [""]
        yield from (Found(text, error, node.lineno) for text in texts)
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
        yield Found("", node.exc.id, node.lineno)
    elif isinstance(node, ast.Assert) and node.msg is not None:
        yield from (Found(text, "AssertionError", node.lineno) for text in _texts(node.msg, given))
    elif isinstance(node, ast.Call) and _name(node.func) in WARNERS and node.args:
        yield from (Found(text, "warning", node.lineno) for text in _texts(node.args[0], given))


def _name(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def _texts(node: ast.expr, given: dict[str, list[ast.expr]], depth: int = 3) -> list[str]:
    """The templates that an expression can be; a name that was given texts is each of them."""
    match node:
        case ast.Constant(value=str(text)):
            return [text]
        case ast.JoinedStr():
            return ["".join(_part(value) for value in node.values)]
        case ast.BinOp(op=ast.Add()):
            return [a + b for a in _texts(node.left, given, depth) for b in _texts(node.right, given, depth)]
        case ast.BinOp(op=ast.Mod()):
            return _texts(node.left, given, depth)
        case ast.IfExp():
            return [*_texts(node.body, given, depth), *_texts(node.orelse, given, depth)]
        case ast.Call(func=ast.Attribute(value=value, attr="format" | "strip" | "lstrip" | "join")):
            return _texts(value, given, depth)
        case ast.Call(func=ast.Name(id="dedent" | "_") | ast.Attribute(attr="dedent"), args=[one, *_]):
            return _texts(one, given, depth)
        case ast.Name(id=name) if depth and name in given:
            texts = [text for value in given[name] for text in _texts(value, given, depth - 1)]
            return [text for text in dict.fromkeys(texts) if text.strip("{} ")] or [f"{{{name}}}"]
    return [f"{{{_short(node)}}}"]


def _part(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return str(node.value)
    return f"{{{_short(node.value)}}}" if isinstance(node, ast.FormattedValue) else HOLE


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 and "{" not in text else ""
