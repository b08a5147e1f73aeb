"""Reading default values, as ``parseDefaultValue`` in PyTorch's function_schema_parser.cpp does."""

from __future__ import annotations

from dispatch_cli.model.schema.constants import (
    NAMED_CONSTANTS,
    SCALAR_TYPES,
    Constant,
    NotAConstant,
    Value,
    read_device,
    read_number,
    read_string,
)
from dispatch_cli.model.schema.cursor import Cursor
from dispatch_cli.model.schema.error import MAX_BROADCAST, shortened
from dispatch_cli.model.schema.lexer import is_name, is_string
from dispatch_cli.model.schema.refusal import Theirs, asserted, plain, pointed
from dispatch_cli.model.schema.types import SchemaType, TypeKind
from dispatch_cli.model.suggest import suggestion

_NONE_ONLY = frozenset({TypeKind.TENSOR, TypeKind.GENERATOR, TypeKind.QUANTIZER})
_SINGLE = frozenset(
    {TypeKind.STRING, TypeKind.OPTIONAL, TypeKind.NUMBER, TypeKind.INT, TypeKind.BOOL, TypeKind.FLOAT, TypeKind.COMPLEX}
)
_LIST_ELEMENTS = {TypeKind.INT: int, TypeKind.FLOAT: float, TypeKind.COMPLEX: complex, TypeKind.BOOL: bool}
_EXPECTED = {int: "expected int", float: "expected double", bool: "expected bool"}
_TAGS = {type(None): "None", bool: "Bool", int: "Int", float: "Double", str: "String"}
"""PyTorch's words for values of other types where it wanted a complex one."""


def read_default(cursor: Cursor, seen: SchemaType, real: SchemaType, size: int | None) -> Value:
    """Read the default value of an argument.

    seen, real: its type as TorchScript sees it, and the real one. size: that of a fixed-size list.
    Errors: SchemaError.
    """
    start = cursor.index
    try:
        return _default(cursor, seen, real, size)
    except NotAConstant as problem:
        cursor.fail(problem.message, problem.theirs, start)


def _default(cursor: Cursor, seen: SchemaType, real: SchemaType, size: int | None) -> Value:
    kind = seen.kind
    if kind in _SINGLE:
        return _constant(cursor, kind, real)
    if kind is TypeKind.LIST:
        return _list_default(cursor, seen.contained[0].kind, real.contained[0], size)
    if kind is TypeKind.DEVICE:
        if not is_string(cursor.token):
            cursor.fail_to_find("a string", "string_literal")
        number = cursor.index
        return read_device(read_string(cursor.advance(), number))
    if kind not in _NONE_ONLY:
        words = pointed("unexpected type, file a bug report")
        cursor.fail(f"an argument of type {shortened(seen.text)} cannot have a default", words)
    cursor.expect("None")
    return None


def _list_default(cursor: Cursor, kind: TypeKind, real: SchemaType, size: int | None) -> tuple[Constant, ...]:
    start = cursor.index
    if is_name(cursor.token):
        cursor.fail_to_find("'['", "None")
    if size is None or cursor.token == "[":
        return _convert(_constant_list(cursor, kind, real), kind, start)
    value = _constant(cursor, kind, real)
    if not 0 <= size <= MAX_BROADCAST:
        too_large = plain("cannot create std::vector larger than max_size()", ValueError) if size < 0 else None
        cursor.fail(f"a default cannot fill a list of {size} values", too_large, start)
    return _convert([value] * size, kind, start)


def _constant_list(cursor: Cursor, kind: TypeKind, real: SchemaType) -> list[Constant]:
    cursor.expect("[")
    values: list[Constant] = []
    if cursor.token != "]":
        values.append(_constant(cursor, kind, real))
        while cursor.next_if(","):
            values.append(_constant(cursor, kind, real))
    cursor.expect("]")
    return values


def _convert(values: list[Constant], kind: TypeKind, start: int) -> tuple[Constant, ...]:
    """*values* as a list of *kind*; *start* is the number of its first token."""
    element = _LIST_ELEMENTS.get(kind)
    if element is None:
        words = pointed("lists are only supported for float, int and complex types", start)
        raise NotAConstant("only lists of int, float, complex and bool can have a default", words)
    for value in values:
        if type(value) is not element:
            message = f"a list of {element.__name__} cannot hold {shortened(repr(value))}"
            raise NotAConstant(message, _not_an_element(element, value))
    return tuple(values)


def _not_an_element(element: type, value: Constant) -> Theirs:
    if element is complex:
        words = f"Expected ComplexDouble but got {_TAGS[type(value)]}"
        return asserted("isComplexDouble()", "aten/src/ATen/core/ivalue_inl.h", words)
    return asserted("0", "aten/src/ATen/core/ivalue.h", _EXPECTED[element])


def _constant(cursor: Cursor, kind: TypeKind, real: SchemaType) -> Constant:
    token = cursor.token
    number = cursor.index
    if token in ("True", "False"):
        return cursor.advance() == "True"
    if token == "None":
        cursor.advance()
        return None
    if is_string(token):
        return read_string(cursor.advance(), number)
    if is_name(token):
        return _named_constant(cursor, real)
    if token in ('"', "'"):
        cursor.fail("the string that starts here has no closing quote", None)
    text = f"-{cursor.number()}" if cursor.next_if("-") else cursor.number("a default value")
    return read_number(text, as_float=kind is TypeKind.FLOAT, as_complex=kind is TypeKind.COMPLEX)


def _named_constant(cursor: Cursor, real: SchemaType) -> Constant:
    at = cursor.index
    word = cursor.advance()
    constant = NAMED_CONSTANTS.get(word)
    known: tuple[str, ...] = (*NAMED_CONSTANTS,)
    if (real.contained[0] if real.kind is TypeKind.OPTIONAL else real).kind is TypeKind.SCALAR_TYPE:
        known += (*SCALAR_TYPES,)
        constant = SCALAR_TYPES.get(word) if constant is None else constant
    if constant is None:
        words, hint = pointed("invalid numeric default value"), suggestion(word, ("True", "False", "None", *known))
        cursor.fail(f"'{shortened(word)}' is not a default value", words, at, hint)
    return constant
