"""Operators of Python, its own functions, and methods of texts, lists and dictionaries, on values that are known."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from dispatch_cli.extract.python.annotations import one_of_types, same_type
from dispatch_cli.extract.python.evaluation.values import (
    MAX_BITS,
    MAX_PARTS,
    MAX_TYPE_PARTS,
    PARTS,
    Dotted,
    Items,
    NamedSchema,
    NoResult,
    Opaque,
    TypeArguments,
    Value,
    constant,
    is_type,
    items_of,
    size_of,
)
from dispatch_cli.extract.python.evaluation.versions import Version, comparable
from dispatch_cli.extract.python.run import PythonRun

MAX_CHARACTERS = 200_000
"""Characters of a text that is made."""
MAX_WORK = 1 << 22
"""Product of the characters of a text and of what a method of it is given."""
_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.FloorDiv: operator.floordiv,
    ast.BitOr: operator.or_,
    ast.BitAnd: operator.and_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        (
            *("lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "replace", "startswith", "endswith"),
            *("removeprefix", "removesuffix", "title", "capitalize", "partition", "rpartition", "join", "find"),
            *("rfind", "index", "rindex", "count", "isidentifier", "isdigit", "isupper", "islower", "splitlines"),
            "format",
        )
    ),
    list: frozenset(("append", "extend", "insert", "remove", "pop", "index", "count", "copy", "reverse", "clear")),
    dict: frozenset(("items", "keys", "values", "get", "update", "setdefault", "pop", "copy", "clear")),
}
_COMPARING = frozenset(("remove", "index", "count"))
"""Methods of lists that compare items."""
_FORMATTED = re.compile(r"\{[^{}]*[:\[]")
"""A part of a format that asks for more than the text of a value."""


def _items(row: Value) -> list[Value]:
    items = items_of(row)
    if items is None:
        raise NoResult
    return items


def _range(*bounds: Value) -> Value:
    numbers = range(*bounds)
    if len(numbers) > MAX_PARTS:
        raise NoResult
    return numbers


def _text(value: Value = "") -> str:
    if not constant(value):
        raise NoResult
    return str(value)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "zip": lambda *rows, **_: Items(zip(*map(_items, rows), strict=False)),
    "enumerate": lambda row, start=0: Items(enumerate(_items(row), start)),
    "range": _range,
    "list": lambda row=(): _items(row),
    "tuple": lambda row=(): tuple(_items(row)),
    "set": lambda row=(): Items(dict.fromkeys(_items(row))),
    "frozenset": lambda row=(): Items(dict.fromkeys(_items(row))),
    "reversed": lambda row: Items(_items(row)[::-1]),
    "sorted": lambda row, reverse=False: sorted(_items(row), reverse=reverse),
    "len": lambda row: len(_items(row)),
    "str": _text,
    "dict": dict,
    "int": int,
    "float": float,
}
"""Python's own functions; they raise what Python raises, or `NoResult`."""


class Operations:
    """Operations on known values. Errors, of all of them: `NoResult`."""

    def __init__(self, run: PythonRun) -> None:
        self._run = run

    def afford(self, *values: Value) -> None:
        """Pay for comparing, hashing, printing or copying values."""
        if not self._run.affords(*values):
            raise NoResult

    def do(self, act: Callable[..., Any], *values: Value, **keywords: Value) -> Value:
        """Call one of Python's functions."""
        try:
            result = act(*values, **keywords)
        except Exception:  # what Python's own functions raise, or `NoResult`
            raise NoResult from None
        if isinstance(result, str | bytes | list | tuple) and len(result) > MAX_CHARACTERS:
            raise NoResult
        if isinstance(result, int) and result.bit_length() > MAX_BITS:
            raise NoResult
        return result

    def function(self, name: str, given: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """Call one of `FUNCTIONS`."""
        if name not in FUNCTIONS or any(isinstance(part, Opaque) for part in given):
            raise NoResult
        self.afford(*given, *keywords.values())
        return self.do(FUNCTIONS[name], *given, **keywords)

    def method(self, owner: Value, name: str, given: Sequence[Value], keywords: dict[str, Value]) -> Value:
        """Call a method of a text, list or dictionary."""
        kind = next((kind for kind in _METHODS if isinstance(owner, kind)), type(None))
        if name not in _METHODS.get(kind, ()) or (name == "format" and _FORMATTED.search(owner)):
            raise NoResult
        arguments = (*given, *keywords.values())
        self.afford(*((owner,) if kind is str or name in _COMPARING else ()), *arguments)
        rows = list | tuple | dict if name == "join" else list | tuple
        parts = [part for value in arguments for part in (value if isinstance(value, rows) else [value])]
        if kind is str:
            work = (len(owner) + 1) * sum(len(str(part)) + 20 for part in parts if constant(part))
            if not all(map(constant, parts)) or work > MAX_WORK:
                raise NoResult
        elif len(owner) + len(parts) > MAX_PARTS:
            raise NoResult
        result = self.do(getattr(owner, name), *given, **keywords)
        return Items(result) if kind is dict and name in ("items", "keys", "values") else result

    def item(self, owner: Value, key: Value) -> Value:
        """``owner[key]``, of a value or a type."""
        if isinstance(owner, str | list | tuple | dict) and not isinstance(owner, Items):
            self.afford(key)
            return self.do(operator.getitem, owner, key)
        if not is_type(owner):
            raise NoResult
        return self._generic(owner, key if isinstance(key, tuple) else (key,))

    def _generic(self, origin: Value, arguments: tuple[Value, ...]) -> Value:
        """A generic type with its arguments."""
        generic = TypeArguments(origin, arguments)
        self.afford(generic)
        if size_of(generic) > MAX_TYPE_PARTS:
            raise NoResult
        return generic

    def binary(self, kind: ast.operator, left: Value, right: Value) -> Value:
        """``left + right`` and the like."""
        self._run.spend(len(left) // PARTS if isinstance(left, str) else 0)
        if isinstance(kind, ast.Add) and isinstance(left, str) and isinstance(right, NamedSchema):
            return NamedSchema(left + right.name, right.why, right.refused)
        if isinstance(kind, ast.BitOr) and (is_type(left) or is_type(right)):
            return self._generic(Dotted("typing.Union"), (left, right))
        return self._operate(kind, left, right)

    def _operate(self, kind: ast.operator | ast.cmpop, left: Value, right: Value) -> Value:
        if not all(constant(side) or isinstance(side, list | tuple | dict) for side in (left, right)):
            raise NoResult
        if isinstance(left, Items) or isinstance(right, Items):
            raise NoResult
        if isinstance(kind, ast.cmpop):
            self.afford(left, right)
            if isinstance(left, Version) or isinstance(right, Version):
                left, right = comparable(left, right)
        return self.do(lambda: _OPERATORS[type(kind)](left, right))

    def compare(self, kind: ast.cmpop, left: Value, right: Value) -> Value:
        """``left == right`` and the like."""
        if isinstance(kind, ast.In | ast.NotIn):
            return self._among(left, right) is isinstance(kind, ast.In)
        equal = isinstance(kind, ast.Is | ast.Eq)
        if equal or isinstance(kind, ast.IsNot | ast.NotEq):
            if (same := same_type(left, right)) is not None:
                return same is equal
            if left is None or right is None:
                return self._is_none(right if left is None else left) is equal
        if isinstance(kind, ast.Is | ast.IsNot) and isinstance(left, bool) and isinstance(right, bool):
            return (left is right) is equal
        return self._operate(kind, left, right)

    def _is_none(self, value: Value) -> bool:
        name = value.name if isinstance(value, Dotted) else ""
        if isinstance(value, Opaque) or (name and not name.startswith("torch.ops.") and name not in self._run.modules):
            raise NoResult
        return value is None

    def _among(self, value: Value, container: Value) -> bool:
        """``value in container``."""
        items = container if isinstance(container, str) else _items(container)
        self._run.spend(len(items) // (1 if isinstance(items, list) else PARTS))
        if isinstance(items, list):
            if (among := one_of_types(value, items)) is not None:
                return among
            if not all(map(constant, items)):
                raise NoResult
            self.afford(items, value)
        if not constant(value) or (isinstance(items, str) and not isinstance(value, str)):
            raise NoResult
        return value in items
