"""Libraries that end before the modules have been imported, and with them all that they registered.

PyTorch removes what a ``torch.library.Library`` has registered when the object is destroyed: nothing refers to it any
more. What the sources keep is followed from the names of all modules. What is given to something that is not known is
taken to be kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

from dispatch_cli.extract.python.trees import every_node
from dispatch_cli.extract.python.values import (
    Alternatives,
    Bound,
    ClassValue,
    FunctionValue,
    InstanceValue,
    LibraryValue,
    ObjectValue,
    Prepared,
    Scope,
    Value,
)

_KEEPING: frozenset[type] = frozenset(
    (
        *(Alternatives, Bound, ClassValue, FunctionValue, InstanceValue, LibraryValue, ObjectValue, Prepared),
        *(list, dict, tuple),
    )
)
"""Kinds of values that may refer to others."""


def may_keep(value: Value) -> bool:
    """True if a value may refer to a library."""
    return type(value) in _KEEPING


def kept_libraries(roots: Iterable[Value]) -> set[LibraryValue]:
    """The libraries that values refer to, directly or through others."""
    kept: set[LibraryValue] = set()
    seen: set[int] = set()
    pending = [root for root in roots if may_keep(root)]
    while pending:
        value = pending.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, LibraryValue):
            kept.add(value)
        else:
            pending += [referred for referred in _referred(value) if may_keep(referred)]
    return kept


def _referred(value: Value) -> Iterator[Value]:
    match value:
        case dict():
            yield from value.keys()
            yield from value.values()
        case Alternatives(options):
            yield from (option.value for option in options)
        case Bound(owner):
            yield owner
        case Prepared(function, arguments, keywords):
            yield from (function, *arguments, *keywords.values())
        case ObjectValue(attributes):
            yield from attributes.values()
        case InstanceValue(of, attributes):
            yield from (of, *attributes.values())
        case ClassValue():
            yield from value.scope.names.values()
        case FunctionValue():
            yield from (value.binds, value.wrapped, *value.defaults, *value.keyword_defaults.values())
            yield from value.attributes.values()
            yield from _closure(value)
        case _:
            yield from value


def _closure(function: FunctionValue) -> Iterator[Value]:
    """The values of the names in a function that are those of functions around it."""
    names = _names(function.node)
    scope: Scope | None = function.scope
    while scope is not None and scope.parent is not None:
        yield from (scope.names[name] for name in names if name in scope.names)
        scope = scope.parent


@lru_cache(maxsize=50_000)
def _names(code: ast.AST) -> frozenset[str]:
    return frozenset(node.id for node in every_node(code) if isinstance(node, ast.Name))
