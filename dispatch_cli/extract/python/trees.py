"""Facts about the tree of a module, found in one pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.extract.python.interface import CALLED, HARMLESS

MAX_SIZE = 150
"""Expressions and statements of a function that is followed only for what it returns."""
MAX_SCHEMA_SIZE = 1500
"""Expressions and statements of a function with a text that has ``->``, which may make a schema."""


class TreeFacts(NamedTuple):
    """calls: with the last name of what is called. inside: what top-level functions and classes call in their bodies.

    torch_names: the names under which functions of ``torch.library`` are imported.
    """

    calls: tuple[tuple[str, ast.Call], ...]
    inside: dict[str, frozenset[str]]
    torch_names: frozenset[str]


def tree_facts(tree: ast.Module) -> TreeFacts:
    """Facts about a tree."""
    calls: list[tuple[str, ast.Call]] = []
    inside: dict[str, frozenset[str]] = {}
    imported: set[str] = set()
    for statement in tree.body:
        decorators = getattr(statement, "decorator_list", [])
        called: set[str] = set()
        for node in every_node(statement):
            if isinstance(node, ast.Call):
                name = called_name(node)
                if node not in decorators:
                    called.add(name)
                if name in CALLED or name in HARMLESS or name in imported:
                    calls.append((name, node))
            elif isinstance(node, ast.ImportFrom) and node.module in ("torch.library", "torch._library"):
                imported.update(alias.asname or alias.name for alias in node.names)
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            inside[statement.name] = inside.get(statement.name, frozenset()) | called
    calls.sort(key=_place)
    return TreeFacts(tuple(calls), inside, frozenset(imported))


def is_schema_part(node: ast.AST) -> bool:
    """True if a constant is a text of which schemas are made."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value


def _place(call: tuple[str, ast.Call]) -> tuple[int, int]:
    return call[1].lineno, call[1].col_offset


_WITHOUT = frozenset(
    (
        *("arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "kwd_attrs", "level", "module"),
        *("name", "names", "op", "ops", "rest", "simple", "str", "tag", "type_comment", "type_ignores"),
    )
)
"""Fields of nodes that have no expressions or statements."""


class _FieldsByKind(dict[type, tuple[str, ...]]):
    """The fields of a kind of node that may have nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        fields: tuple[str, ...] = () if kind in (ast.Constant, ast.MatchSingleton) else getattr(kind, "_fields", ())
        names = self[kind] = tuple(name for name in fields if name not in _WITHOUT)
        return names


_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom)
_CHILDREN = _FieldsByKind()


def every_node(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, in no order; faster than `ast.walk`."""
    pending: list[ast.AST | None] = [root]
    while pending:
        node = pending.pop()
        if node is None:
            continue  # such as the key of ``**more`` in a dictionary
        yield node
        for name in _CHILDREN[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                pending += value
            elif value is not None:
                pending.append(value)


def always_raises(body: Sequence[ast.stmt], spend: Callable[[int], None]) -> bool:
    """True if statements end with an exception on every way through them. spend: called with the amount of work."""
    if not _ends_with_raise(body, spend):
        return False
    count, leaves = 0, False
    for statement in body:
        for node in every_node(statement):
            count += 1
            leaves = leaves or isinstance(node, _LEAVING)
    spend(count // 4)
    return not leaves


def _ends_with_raise(body: Sequence[ast.stmt], spend: Callable[[int], None]) -> bool:
    waiting = [body]
    while waiting:
        spend(1)
        body = waiting.pop()
        if body and isinstance(body[-1], ast.If):
            waiting += [body[-1].body, body[-1].orelse]
        elif not (body and isinstance(body[-1], ast.Raise)):
            return False
    return True


def called_name(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
