"""Names of Python and PyTorch that mean something to the reader of Python sources, and facts about trees."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.extract.python.evaluation.values import (
    Bound,
    ClassValue,
    Dotted,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    NoResult,
    Prepared,
    Value,
    source_text,
)
from dispatch_cli.extract.python.keys import CALLED, DIRECT_REGISTER, HARMLESS, METHODS, ROOTS, TORCH_FUNCTIONS

MAX_SIZE = 150
"""Expressions and statements of a function that is followed only for what it returns."""
MAX_SCHEMA_SIZE = 1500
"""Expressions and statements of a function with a text that has ``->``, which may make a schema."""
_PLAIN = frozenset(("ctx", "names", "op", "ops"))
"""Fields of nodes that have nodes, but no expressions or statements."""
_OF_LIBRARY = re.compile(r"\btorch\._?library\b|\bimport library\b|\bLibrary\b")
"""Text of a source that speaks of ``torch.library``."""
BUILTIN_NAMES = frozenset(dir(builtins))
_CERTAIN = frozenset(
    ("torch", "numpy", "typing_extensions", "packaging", "builtins", "setuptools", *sys.stdlib_module_names)
)


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
    calls.sort(key=lambda call: (call[1].lineno, call[1].col_offset))
    return TreeFacts(tuple(calls), inside, frozenset(imported))


def every_node(root: ast.AST) -> Iterator[ast.AST]:
    """The expressions, statements and their parts in a tree, in no order; faster than `ast.walk`."""
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.AST):
            yield node
            for name in node._fields:
                value = None if name in _PLAIN else getattr(node, name, None)
                if isinstance(value, list):
                    pending += value
                elif value is not None:
                    pending.append(value)


def always_raises(body: Sequence[ast.stmt]) -> bool:
    """True if statements end with an exception, and nothing in them leaves earlier."""
    return bool(body) and isinstance(body[-1], ast.Raise) and not any(hasattr(part, "body") for part in body)


def called_name(node: ast.Call) -> str:
    """The last name of what is called."""
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def certain(name: str) -> bool:
    """True if a module that is not of the project is assumed to be there."""
    return name.partition(".")[0] in _CERTAIN


def is_torch_api(name: str, *, exact: bool = False) -> bool:
    """True if a name belongs to PyTorch's interface for operators, which is known without its source."""
    if name in TORCH_FUNCTIONS:
        return True
    if exact:
        return name in ("torch.library", "torch.ops", "torch.compile", "torch._library")
    return any(name == root or name.startswith(root + ".") for root in ROOTS)


_KINDS: dict[str, type | tuple[type, ...]] = {
    **{f"builtins.{kind.__name__}": kind for kind in (str, int, float, bool, list, tuple, dict)},
    **dict.fromkeys(("collections.abc.Sequence", "typing.Sequence"), (str, list, tuple)),
    **dict.fromkeys(("collections.abc.Iterable", "typing.Iterable"), (str, list, tuple, dict)),
    "torch.library.Library": LibraryValue,
    "types.FunctionType": FunctionValue,
}


def is_instance(value: Value, kinds: Value) -> bool:
    """``isinstance`` of a value that is known. Errors: `NoResult`."""
    if isinstance(value, Dotted) and value.name.startswith("torch.ops.") and value.name.count(".") == 3:
        if kinds == Dotted("torch._ops.OpOverloadPacket"):
            return True
        raise NoResult
    if isinstance(kinds, ClassValue):
        if isinstance(value, InstanceValue) and value.of is kinds:
            return True
        if isinstance(value, FunctionValue) and not value.may_be_replaced:
            return False
        raise NoResult
    if not isinstance(value, type(None) | str | int | float | list | tuple | dict | LibraryValue | FunctionValue):
        raise NoResult
    names = [kind.name if isinstance(kind, Dotted) else "" for kind in (kinds if isinstance(kinds, tuple) else [kinds])]
    if any(isinstance(value, _KINDS.get(name, ())) for name in names):
        return True
    plain = not isinstance(value, LibraryValue | FunctionValue)
    if all(name in _KINDS or (plain and name.startswith("torch.")) for name in names):
        return False
    raise NoResult


def may_register(function: Value) -> bool:
    """True if calling the value may register something with the dispatcher."""
    match function:
        case Dotted(name):
            return name in TORCH_FUNCTIONS or name.rpartition(".")[2] == DIRECT_REGISTER
        case Bound():
            return not isinstance(function.owner, str | list | dict | tuple) and function.name in METHODS
        case Prepared():
            return may_register(function.function)
    return False


class FunctionFacts(NamedTuple):
    """Facts of the text of a function.

    size: statements and expressions. limit: the size up to which it is followed for what it returns. called: last
    names of what it calls.
    """

    size: int
    limit: int
    called: frozenset[str]


@lru_cache(maxsize=50_000)
def function_facts(code: ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.AsyncFor) -> FunctionFacts:
    """Facts from the text of a function or loop."""
    called: set[str] = set()
    size, limit = 0, MAX_SIZE
    for statement in code.body:
        for node in every_node(statement):
            size += 1
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and "->" in node.value:
                limit = MAX_SCHEMA_SIZE
            if isinstance(node, ast.Call):
                called.add(called_name(node))
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                called.update(called_name(part) for part in node.decorator_list if isinstance(part, ast.Call))
    return FunctionFacts(size, limit, frozenset(called))


def may_register_in(
    code: ast.FunctionDef | ast.AsyncFunctionDef | ast.For | ast.AsyncFor, helpers: frozenset[str]
) -> bool:
    """True if a function or loop calls what may register something. helpers: functions of the project that do."""
    called = function_facts(code).called
    return bool(called & CALLED or called & helpers)


def plausible(node: ast.Call, source: str) -> bool:
    """True if it may be a registration: a call of a method of something that is not known.

    The arguments are those of a registration, and they, the owner or the *source* that it is in speak of operators.
    """
    name, given = called_name(node), len(node.args) + len(node.keywords)
    constants = [part.value for part in node.args[:1] if isinstance(part, ast.Constant)]
    is_unknown, first = not constants, constants[0] if constants else None
    match name:
        case "define":
            fits = given > 0 and (is_unknown or (isinstance(first, str) and "(" in first))
        case "impl":
            fits = given >= 2 and (is_unknown or isinstance(first, str))
        case "fallback":
            fits = len(node.args) in (1, 2) and is_unknown
        case _:
            return given > 0 and name != "_destroy"
    return fits and (
        _OF_LIBRARY.search(source) is not None
        or "lib" in source_text(node.func).lower()
        or any(isinstance(part, ast.JoinedStr) or isinstance(getattr(part, "value", None), str) for part in node.args)
        or any(keyword.arg == "dispatch_key" for keyword in node.keywords)
    )
