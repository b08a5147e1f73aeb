"""What the tree of a module has, found in one pass."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.extract.python.interface import CALLED, HARMLESS

MAX_SIZE = 150
"""Expressions and statements of a function that is followed only for what it returns."""
REGISTERING = frozenset(
    (
        *("define", "impl", "_register_fake", "register_fake", "impl_abstract", "register_kernel"),
        *("register_autograd", "custom_op", "triton_op"),
    )
)
"""Names of calls in the body of a function that make it one that registers something."""


class TreeFacts(NamedTuple):
    """calls: with the last name of what is called. inside: what top-level functions and classes call in their bodies.

    torch_names: the names under which functions of ``torch.library`` are imported.
    """

    calls: tuple[tuple[str, ast.Call], ...]
    inside: dict[str, frozenset[str]]
    torch_names: frozenset[str]


def tree_facts(tree: ast.Module) -> TreeFacts:
    """What the tree has."""
    calls: list[tuple[str, ast.Call]] = []
    inside: dict[str, frozenset[str]] = {}
    imported: set[str] = set()
    for statement in tree.body:
        outside: list[ast.AST] = [statement]
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            outside = list(statement.decorator_list)
            called: set[str] = set()
            for part in statement.body:
                _collect(part, calls, called, imported)
            inside[statement.name] = inside.get(statement.name, frozenset()) | called
        for one in outside:
            _collect(one, calls, set(), imported)
    return TreeFacts(tuple(calls), inside, frozenset(imported))


def _collect(root: ast.AST, calls: list[tuple[str, ast.Call]], called: set[str], imported: set[str]) -> None:
    for one in every_node(root):
        kind = type(one)
        if kind is ast.Call:
            assert isinstance(one, ast.Call)
            name = called_name(one)
            called.add(name)
            if name in CALLED or name in HARMLESS or name in imported:
                calls.append((name, one))
        elif isinstance(one, ast.ImportFrom) and one.module in ("torch.library", "torch._library"):
            imported.update(alias.asname or alias.name for alias in one.names)


def without_bodies(tree: ast.Module, registering: frozenset[str], most: int) -> frozenset[str]:
    """Drop the bodies of large functions that call nothing of *registering*: they are not followed.

    What they call is returned.
    """
    pending: list[ast.AST] = [tree]
    dropped: set[str] = set()
    while pending:
        node = pending.pop()
        body: list[ast.AST] = [] if isinstance(node, ast.Lambda) else list(getattr(node, "body", ()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            called = _called_by_idle(node, registering, most)
            if called is not None:
                dropped |= called
                node.body = [ast.copy_location(ast.Pass(), node)]
                continue
        elif isinstance(node, ast.stmt):
            for field in ("orelse", "finalbody", "handlers"):
                body += getattr(node, field, ())
        pending += [one for one in body if isinstance(one, ast.stmt | ast.ExceptHandler)]
    return frozenset(dropped)


def _called_by_idle(
    node: ast.FunctionDef | ast.AsyncFunctionDef, registering: frozenset[str], most: int
) -> set[str] | None:
    """What a large function calls; None for one that is small, that registers something, or that is a generator."""
    size = 0
    called: set[str] = set()
    for statement in node.body:
        for one in every_node(statement):
            size += 1
            if isinstance(one, ast.Call):
                name = called_name(one)
                if name in registering:
                    return None
                called.add(name)
            elif isinstance(one, ast.Yield | ast.YieldFrom):
                return None
    return called if size > most else None


def every_node(root: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a tree, in no order; faster than `ast.walk`."""
    pending = [root]
    while pending:
        node = pending.pop()
        yield node
        for value in node.__dict__.values():
            if type(value) is list:
                pending.extend(one for one in value if isinstance(one, ast.AST))
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                pending.append(value)


def called_name(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""
