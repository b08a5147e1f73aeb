"""Methods of strings, lists and dictionaries, and Python's own functions, on values that are known."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from dispatch_cli.extract.python.evaluation.values import Dotted, FunctionValue, OperatorHandle, Value, constant

MAX_ITEMS = 20_000
"""Items of a list that are made."""
MAX_CHARACTERS = 200_000
"""Characters of a text that is made."""
MAX_WORK = 1 << 22
"""Product of the characters of a text and of what a method of it is given."""
MAX_DIGITS = 100
"""Characters of a text that is made a number."""
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(
        (
            *("lower", "upper", "strip", "lstrip", "rstrip", "split", "rsplit", "replace", "startswith", "endswith"),
            *("removeprefix", "removesuffix", "title", "capitalize", "partition", "rpartition", "join", "find"),
            *("rfind", "count", "isidentifier", "isdigit", "isupper", "islower", "splitlines", "format"),
        )
    ),
    list: frozenset(
        ("append", "extend", "insert", "remove", "pop", "index", "count", "copy", "reverse", "clear"),
    ),
    dict: frozenset(("items", "keys", "values", "get", "update", "setdefault", "pop", "copy", "clear")),
}
_FORMATTED = re.compile(r"\{[^{}]*[:\[]")
"""A part of a format that asks for more than the text of a value."""
_COMPARING = frozenset(("remove", "index", "count"))
"""Methods of lists that compare items."""


def items_of(value: Value) -> list[Value] | None:
    """The items that a loop goes through; None where they are not known."""
    if isinstance(value, str | list | tuple | dict | range):
        return list(value) if len(value) <= MAX_ITEMS else None
    return None


class NoResult(Exception):
    """The value of a call is not known."""


def constant_method(
    owner: Value, name: str, arguments: Sequence[Value], keywords: dict[str, Value], affords: Callable[..., bool]
) -> Value:
    """The value of a method's call. affords: pays for values that are gone through. Errors: `NoResult`."""
    kind = next((kind for kind in _METHODS if isinstance(owner, kind)), type(None))
    if name not in _METHODS.get(kind, ()) or (name == "format" and _FORMATTED.search(owner)):
        raise NoResult
    given = (*arguments, *keywords.values())
    if not affords(*((owner,) if kind is str or name in _COMPARING else ()), *given):
        raise NoResult
    rows = list | tuple | dict if name == "join" else list | tuple
    parts = [part for value in given for part in (value if isinstance(value, rows) else [value])]
    if kind is str:
        work = (len(owner) + 1) * sum(len(str(part)) + 20 for part in parts if constant(part))
        if not all(map(constant, parts)) or work > MAX_WORK:
            raise NoResult
    elif len(owner) + len(parts) > MAX_ITEMS:
        raise NoResult
    try:
        result = getattr(owner, name)(*arguments, **keywords)
    except Exception:
        raise NoResult from None
    return list(result) if kind is dict and name in ("items", "keys", "values") else result


def _zip(*rows: Value, **_: Value) -> list[Value]:
    lists = [items_of(row) for row in rows]
    if None in lists or len(rows) > MAX_ITEMS:
        raise NoResult
    return list(zip(*(row for row in lists if row is not None), strict=False))


def _enumerate(row: Value, start: int = 0) -> list[Value]:
    return list(enumerate(_items(row), start))


def _items(row: Value) -> list[Value]:
    items = items_of(row)
    if items is None:
        raise NoResult
    return items


def _range(*bounds: Value) -> Value:
    numbers = range(*bounds)
    if len(numbers) > MAX_ITEMS:
        raise NoResult
    return numbers


def _short(value: Value) -> Value:
    """A text, a number or a truth that is not too long to be made a number."""
    if not isinstance(value, str | int | float) or (isinstance(value, str) and len(value) > MAX_DIGITS):
        raise NoResult
    return value


def _sorted(row: Value, *, reverse: bool = False) -> list[Value]:
    items = _items(row)
    if not all(isinstance(item, str) for item in items) and not all(isinstance(item, int | float) for item in items):
        raise NoResult
    return sorted(items, reverse=reverse)


def _text(value: Value = "") -> str:
    if isinstance(value, Dotted | OperatorHandle | FunctionValue) or not constant(value):
        raise NoResult
    return str(value)


def _dictionary(*rows: Value, **more: Value) -> dict[Value, Value]:
    values: dict[Value, Value] = {}
    for row in rows:
        values.update(row if isinstance(row, dict) else dict(_items(row)))
    return {**values, **more}


BUILTINS: dict[str, Callable[..., Any]] = {
    "zip": _zip,
    "enumerate": _enumerate,
    "range": _range,
    "list": lambda row=(): list(_items(row)),
    "tuple": lambda row=(): tuple(_items(row)),
    "set": lambda row=(): tuple(dict.fromkeys(_items(row))),
    "frozenset": lambda row=(): tuple(dict.fromkeys(_items(row))),
    "reversed": lambda row: _items(row)[::-1],
    "sorted": _sorted,
    "len": lambda row: len(_items(row)),
    "str": _text,
    "dict": _dictionary,
    "int": lambda value: int(_short(value)),
    "float": lambda value: float(_short(value)),
}
"""Python's own functions, for values that are known; others raise what Python raises, or `NoResult`."""
