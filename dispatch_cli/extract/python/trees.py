"""Facts about the tree of a module, found in one pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from dispatch_cli.extract.python.interface import CALLED, HARMLESS

MAX_SIZE = 150
"""Expressions and statements of a function that is followed only for what it returns."""
MAX_SCHEMA_SIZE = 1500
"""Expressions and statements of a function with a text that has ``->``, which may make a schema."""
REGISTERING = frozenset(
    (
        *("define", "impl", "_register_fake", "register_fake", "impl_abstract", "register_kernel"),
        *("register_autograd", "custom_op", "triton_op", "has_side_effect"),
    )
)
"""Names of calls in the body of a function that make it one that registers something."""


class TreeFacts(NamedTuple):
    """calls: with the last name of what is called. inside: what top-level functions and classes call in their bodies.

    torch_names: the names under which functions of ``torch.library`` are imported. functions: in order of the text.
    """

    calls: tuple[tuple[str, ast.Call], ...]
    inside: dict[str, frozenset[str]]
    torch_names: frozenset[str]
    functions: tuple[WrittenFunction, ...]


@dataclass(eq=False)
class WrittenFunction:
    """A function of a module.

    outer: what it is in. called: last names of what it calls. size: nodes of its body. limit: the size up to which it
    is followed for what it returns.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef
    outer: WrittenFunction | None
    called: set[str] = field(default_factory=set)
    size: int = 0
    generator: bool = False
    limit: int = MAX_SIZE


def tree_facts(tree: ast.Module) -> TreeFacts:
    """Facts about a tree."""
    calls: list[tuple[str, ast.Call]] = []
    inside: dict[str, frozenset[str]] = {}
    imported: set[str] = set()
    functions: list[WrittenFunction] = []
    for statement in tree.body:
        called: set[str] = set()
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for decorator in statement.decorator_list:
                _collect(decorator, calls, set(), imported, functions)
            whole = not isinstance(statement, ast.ClassDef)
            for part in [statement] if whole else statement.body:
                _collect(part, calls, called, imported, functions, plain=whole)
            inside[statement.name] = inside.get(statement.name, frozenset()) | called
        else:
            _collect(statement, calls, called, imported, functions)
    calls.sort(key=_place)
    for written in reversed(functions):
        if written.outer is not None:
            written.outer.called |= written.called
            written.outer.size += written.size + 1
            written.outer.generator |= written.generator
            written.outer.limit = max(written.outer.limit, written.limit)
    return TreeFacts(tuple(calls), inside, frozenset(imported), tuple(functions))


def _collect(
    root: ast.AST,
    calls: list[tuple[str, ast.Call]],
    called: set[str],
    imported: set[str],
    functions: list[WrittenFunction],
    plain: bool = False,
) -> None:
    """Go through a tree once. plain: without the decorators of its root."""
    pending: list[tuple[Sequence[ast.AST | None], WrittenFunction | None]] = [((root,), None)]
    while pending:
        nodes, home = pending.pop()
        queue = list(nodes)
        while queue:
            node = queue.pop()
            if node is None:
                continue  # such as the key of ``**more`` in a dictionary
            kind = type(node)
            if home is not None:
                home.size += 1
            if kind is ast.Call:
                assert isinstance(node, ast.Call)
                name = called_name(node)
                called.add(name)
                if home is not None:
                    home.called.add(name)
                if name in CALLED or name in HARMLESS or name in imported:
                    calls.append((name, node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                written = WrittenFunction(node, home)
                functions.append(written)
                pending.append((node.body, written))
                queue += [node.args, *([node.returns] if node.returns else [])]
                if not plain or node is not root:
                    queue += node.decorator_list
                continue
            elif kind is ast.ImportFrom:
                assert isinstance(node, ast.ImportFrom)
                if node.module in ("torch.library", "torch._library"):
                    imported.update(alias.asname or alias.name for alias in node.names)
            elif kind is ast.Constant:
                if home is not None and is_schema_part(node):
                    home.limit = MAX_SCHEMA_SIZE
            elif home is not None and (kind is ast.Yield or kind is ast.YieldFrom):
                home.generator = True
            for field_name in _CHILDREN[kind]:
                value = getattr(node, field_name, None)
                if type(value) is list:
                    queue += value
                elif value is not None:
                    queue.append(value)


def is_schema_part(node: ast.AST) -> bool:
    """True if a constant is a text of which schemas are made."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value


def _place(call: tuple[str, ast.Call]) -> tuple[int, int]:
    return call[1].lineno, call[1].col_offset


def without_bodies(facts: TreeFacts, registering: frozenset[str]) -> frozenset[str]:
    """Drop the bodies of large functions that call nothing of *registering*: they are not followed.

    What they call is returned.
    """
    dropped: set[str] = set()
    for function in facts.functions:
        if function.size > function.limit and not function.generator and not (function.called & registering):
            dropped |= function.called
            function.node.body = [ast.copy_location(ast.Pass(), function.node)]
    return frozenset(dropped)


_WITHOUT = frozenset(
    (
        *(
            "arg",
            "asname",
            "attr",
            "conversion",
            "ctx",
            "id",
            "is_async",
            "kind",
            "kwd_attrs",
            "level",
            "module",
            "name",
        ),
        *("names", "op", "ops", "rest", "simple", "str", "tag", "type_comment", "type_ignores"),
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
