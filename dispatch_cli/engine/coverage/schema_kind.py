"""Kinds of schemas, by which operators are grouped."""

from __future__ import annotations

import re
from enum import Enum

_TENSOR = re.compile(r"(?<![\w.])Tensor(?!\w)")
_IN_PLACE = re.compile(r"[^_]_$|::__i\w+__$")
_ALIAS = re.compile(r"Tensor\(\w+\)")


class SchemaKind(Enum):
    """A kind of schema; each operator has the first that fits.

    OUT: it writes to tensors that are given by keyword, as `add.out`. INPLACE: it writes to what it is called on, and
    its name says so, as `add_` and `__iadd__`. MUTABLE: it writes to other arguments. VIEW: a result shares the memory
    of an argument. FACTORY: it takes no tensors, and returns some. FUNCTIONAL: all others.
    """

    OUT = "out"
    INPLACE = "inplace"
    MUTABLE = "mutable"
    VIEW = "view"
    FACTORY = "factory"
    FUNCTIONAL = "functional"


def schema_kind(schema: str) -> SchemaKind:
    """The kind of a printed schema."""
    head, _, rest = schema.partition("(")
    arguments, _, returns = rest.rpartition(") ->")
    if "!" in arguments.partition("*, ")[2]:
        return SchemaKind.OUT
    if "!" in arguments:
        return SchemaKind.MUTABLE if _IN_PLACE.search(head.partition(".")[0]) is None else SchemaKind.INPLACE
    if _ALIAS.search(returns) is not None:
        return SchemaKind.VIEW
    takes, gives = (_TENSOR.search(part) is not None for part in (arguments, returns))
    return SchemaKind.FACTORY if gives and not takes else SchemaKind.FUNCTIONAL
