"""Reading default values, as ``parseDefaultValue`` in PyTorch's function_schema_parser.cpp does."""

from __future__ import annotations

from difflib import get_close_matches

from dispatch_cli.model.schema_constants import NAMED_CONSTANTS, Constant, read_device, read_number, read_string
from dispatch_cli.model.schema_cursor import Cursor, is_name, is_string, shown
from dispatch_cli.model.schema_error import MAX_BROADCAST, shortened
from dispatch_cli.model.schema_types import SchemaType, TypeKind

_NONE_ONLY = frozenset({TypeKind.TENSOR, TypeKind.GENERATOR, TypeKind.QUANTIZER})
_SINGLE = frozenset(
    {
        TypeKind.STRING,
        TypeKind.OPTIONAL,
        TypeKind.NUMBER,
        TypeKind.INT,
        TypeKind.BOOL,
        TypeKind.FLOAT,
        TypeKind.COMPLEX,
    }
)
_LIST_ELEMENTS = {TypeKind.INT: int, TypeKind.FLOAT: float, TypeKind.COMPLEX: complex, TypeKind.BOOL: bool}


def read_default(cursor: Cursor, expected: SchemaType, size: int | None) -> Constant | tuple[Constant, ...]:
    """Read the default value of an argument of type *expected*, which has that *size* when it is a fixed-size list.

    Raises SchemaError at the wrong token, or ValueError for a value that does not fit.
    """
    kind = expected.kind
    if kind in _SINGLE:
        return _constant(cursor, kind)
    if kind is TypeKind.LIST:
        return _list_default(cursor, expected.contained[0].kind, size)
    if kind is TypeKind.DEVICE:
        if not is_string(cursor.token):
            cursor.fail(f"expected a string but found {shown(cursor.token)}")
        return read_device(read_string(cursor.advance()))
    if kind not in _NONE_ONLY:
        cursor.fail(f"an argument of type {shortened(expected.text)} cannot have a default")
    cursor.expect("None")
    return None


def _list_default(cursor: Cursor, kind: TypeKind, size: int | None) -> tuple[Constant, ...]:
    if size is None or cursor.token == "[" or is_name(cursor.token):
        return _convert(_constant_list(cursor, kind), kind)
    value = _constant(cursor, kind)
    if not 0 <= size <= MAX_BROADCAST:
        raise ValueError(f"a default cannot stand for a list of {size} values")
    return _convert([value] * size, kind)


def _constant_list(cursor: Cursor, kind: TypeKind) -> list[Constant]:
    cursor.expect("[")
    values: list[Constant] = []
    if cursor.token != "]":
        values.append(_constant(cursor, kind))
        while cursor.next_if(","):
            values.append(_constant(cursor, kind))
    cursor.expect("]")
    return values


def _convert(values: list[Constant], kind: TypeKind) -> tuple[Constant, ...]:
    element = _LIST_ELEMENTS.get(kind)
    if element is None:
        raise ValueError("only lists of int, float, complex and bool can have a default")
    for value in values:
        if type(value) is not element:
            raise ValueError(f"a list of {element.__name__} cannot hold {shortened(repr(value))}")
    return tuple(values)


def _constant(cursor: Cursor, kind: TypeKind) -> Constant:
    token = cursor.token
    if token in ("True", "False"):
        return cursor.advance() == "True"
    if token == "None":
        cursor.advance()
        return None
    if is_string(token):
        return read_string(cursor.advance())
    if is_name(token):
        if token not in NAMED_CONSTANTS:
            cursor.fail(f"'{shortened(token)}' is not a default value", hint=_constant_hint(token))
        return NAMED_CONSTANTS[cursor.advance()]
    if token in ('"', "'"):
        cursor.fail("the string that starts here does not end")
    number = f"-{cursor.number()}" if cursor.next_if("-") else cursor.number("a default value")
    return read_number(number, as_float=kind is TypeKind.FLOAT, as_complex=kind is TypeKind.COMPLEX)


def _constant_hint(word: str) -> str | None:
    close = get_close_matches(word, ("True", "False", "None", *NAMED_CONSTANTS), n=1)
    return f"did you mean {close[0]}?" if close else None
