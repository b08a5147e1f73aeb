"""The types of PyTorch's schema language, as immutable values, and the default values that arguments of them have.

A type is known by its printed text, and so is a default value.

Sources: ``parseDefaultValue`` in function_schema_parser.cpp, ``operator<<`` of IValue, ``printQuotedString`` in
c10/util/StringUtil.h, c10/core/Device.cpp. Forms that no operator has are not understood: hexadecimal numbers, complex
numbers, escapes other than ``\\\\``, ``\\'``, ``\\"`` and ``\\n``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from itertools import repeat

from dispatch_cli.model.schema.cursor import (
    MAX_BROADCAST,
    Cursor,
    NotUnderstood,
    PartError,
    is_name,
    is_string,
    shortened,
)
from dispatch_cli.model.text.suggest import suggestion

_OTHER_WORDS = ("Any", "AnyClassType", "AnyEnumType", "Capsule", "QScheme", "Storage", "Stream", "SymBool")


class TypeKind(Enum):
    """Kinds of types; the value is the word of those that have one (``SchemaTypeParser::parseBaseType``)."""

    TENSOR = "Tensor"
    NUMBER = "Scalar"
    FLOAT = "float"
    COMPLEX = "complex"
    INT = "int"
    NONE = "NoneType"
    STRING = "str"
    GENERATOR = "Generator"
    QUANTIZER = "Quantizer"
    BOOL = "bool"
    DEVICE = "Device"
    SCALAR_TYPE = "ScalarType"
    LAYOUT = "Layout"
    MEMORY_FORMAT = "MemoryFormat"
    SYM_INT = "SymInt"
    OPTIONAL = "?"
    LIST = "[]"
    TUPLE = "()"
    DICT = "Dict()"
    OTHER = ""
    """A word or a custom class of which nothing more is asked."""


@dataclass(frozen=True, slots=True)
class SchemaType:
    """One type; its text says all.

    text: as PyTorch prints it. contained: element, members, or key and value. depth: how deep types nest inside it.
    """

    kind: TypeKind = field(compare=False)
    text: str
    contained: tuple[SchemaType, ...] = field(default=(), compare=False)
    depth: int = field(default=0, compare=False)

    def __str__(self) -> str:
        return self.text


BASE_TYPES = {
    **{kind.value: SchemaType(kind, kind.value) for kind in TypeKind if kind.value.isalpha()},
    **{word: SchemaType(TypeKind.OTHER, word) for word in _OTHER_WORDS},
}
"""Types of single words."""
INT, SYM_INT = BASE_TYPES["int"], BASE_TYPES["SymInt"]
BASE_TYPES |= {"None": BASE_TYPES["NoneType"], "ConstQuantizerPtr": INT, "DeviceIndex": INT}
PRINTED_TYPES = {"PyObject": SchemaType(TypeKind.OTHER, "PyObject")}
"""Words that PyTorch prints and does not read: that of a class which is registered as an opaque type, for one."""
DTYPES = (
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
    "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4",
    "bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "uint16",
    "uint32", "uint64", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7", "int1", "int2", "int3", "int4",
    "int5", "int6", "int7", "float8_e8m0fnu", "float4_e2m1fn_x2",
)  # fmt: skip
"""The dtypes by name (``torch/headeronly/core/ScalarType.h``), in the order of ``c10::ScalarType``.

Their numbers there are the default values in schemas.
"""
OTHER_NAMES = {
    "short": "int16", "int": "int32", "long": "int64", "half": "float16", "float": "float32", "double": "float64",
    "chalf": "complex32", "cfloat": "complex64", "cdouble": "complex128", "bit": "uint1",
}  # fmt: skip

_SHOWN_AS_INT = frozenset({TypeKind.SCALAR_TYPE, TypeKind.MEMORY_FORMAT, TypeKind.LAYOUT, TypeKind.SYM_INT})
"""Kinds that TorchScript sees as int: PyTorch keeps both, the type it sees and the real one."""
Constant = None | bool | int | float | str
"""A single value."""
Value = Constant | tuple[Constant, ...]
"""Default of an argument."""

_NAMED_CONSTANTS = {"Mean": 1, "complex": 9, "contiguous_format": 0, "float": 6, "long": 4, "strided": 0}
"""The words that a default of any type can be, with the enum values PyTorch keeps for them."""
_NUMBERS = {name: number for number, name in enumerate(DTYPES)}
_SCALAR_TYPES = _NUMBERS | {other: _NUMBERS[name] for other, name in OTHER_NAMES.items()}
"""The further words that a default of type ScalarType can be (``getStringToDtypeMap`` in c10/core/ScalarType.cpp)."""
DEVICE_TYPES = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip
"""The device types that PyTorch reads, in the order of its message (c10/core/Device.cpp)."""
DEVICE = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)
"""A device type, and its index."""
_INT64 = range(-(2**63), 2**63)
_MAX_DIGITS = 20
"""Digits that are beyond 64 bits: Python is not to convert thousands of them."""
_NONE_ONLY = frozenset({TypeKind.TENSOR, TypeKind.GENERATOR, TypeKind.QUANTIZER})
_SINGLE = frozenset({TypeKind.STRING, TypeKind.OPTIONAL, TypeKind.NUMBER, TypeKind.INT, TypeKind.BOOL, TypeKind.FLOAT})
_LIST_ELEMENTS = {TypeKind.INT: int, TypeKind.FLOAT: float, TypeKind.BOOL: bool}
_WORDS = {"None": None, "True": True, "False": False}
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "n": "\n"}
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_PRINTED = {character: f"\\{escape}" for escape, character in _ESCAPES.items()}


def compound(kind: TypeKind, text: str, contained: tuple[SchemaType, ...]) -> SchemaType:
    """A type that consists of others."""
    return SchemaType(kind, text, contained, 1 + max((inner.depth for inner in contained), default=0))


def optional_of(element: SchemaType) -> SchemaType:
    """``element?``; an optional of an optional is one optional."""
    return element if element.kind is TypeKind.OPTIONAL else compound(TypeKind.OPTIONAL, f"{element.text}?", (element,))


def list_of(element: SchemaType) -> SchemaType:
    return compound(TypeKind.LIST, f"{element.text}[]", (element,))


def seen_by_torchscript(real: SchemaType) -> SchemaType:
    """The type for which TorchScript takes a real one."""
    if real.kind in _SHOWN_AS_INT:
        return INT
    if real.kind in (TypeKind.OPTIONAL, TypeKind.LIST):
        seen = seen_by_torchscript(real.contained[0])
        if seen is not real.contained[0]:
            return list_of(seen) if real.kind is TypeKind.LIST else optional_of(seen)
    return real


def read_default(cursor: Cursor, real: SchemaType, size: int | None) -> str:
    """Read the default value of an argument; as PyTorch prints it.

    real: its type. size: that of a fixed-size list. Errors: SchemaError.
    """
    start = cursor.index
    try:
        return _printed(_default(cursor, real, size), real)
    except PartError as error:
        cursor.fail(str(error), start, is_ours=isinstance(error, NotUnderstood))


def _default(cursor: Cursor, real: SchemaType, size: int | None) -> Value:
    seen = seen_by_torchscript(real)
    kind = seen.kind
    if kind in _SINGLE:
        return _constant(cursor, kind, real)
    if kind is TypeKind.LIST:
        return _list_default(cursor, seen.contained[0].kind, real.contained[0], size)
    if kind is TypeKind.DEVICE:
        if not is_string(cursor.token):
            cursor.fail_to_find("a string")
        return _device(_string(cursor.advance()))
    if kind is TypeKind.COMPLEX:
        raise NotUnderstood("a default value of type complex is not understood")
    if kind not in _NONE_ONLY:
        cursor.fail(f"an argument of type {shortened(seen.text)} cannot have a default")
    cursor.expect("None")
    return None


def _list_default(cursor: Cursor, kind: TypeKind, real: SchemaType, size: int | None) -> tuple[Constant, ...]:
    start = cursor.index
    if is_name(cursor.token):
        cursor.fail_to_find("'['")
    if size is None or cursor.token == "[":
        cursor.expect("[")
        values: list[Constant] = []
        if cursor.token != "]":
            values.append(_constant(cursor, kind, real))
            while cursor.next_if(","):
                values.append(_constant(cursor, kind, real))
        cursor.expect("]")
        return _converted(values, kind)
    value = _constant(cursor, kind, real)
    if size > MAX_BROADCAST:
        cursor.fail(f"a default cannot fill a list of {size} values", start)
    return _converted([*repeat(value, size)], kind)


def _converted(values: list[Constant], kind: TypeKind) -> tuple[Constant, ...]:
    element = _LIST_ELEMENTS.get(kind)
    if element is None:
        error = NotUnderstood if kind is TypeKind.COMPLEX else PartError
        raise error("a default value of a list is understood for int, float and bool alone")
    for value in values:
        if type(value) is not element:
            raise PartError(f"a list of {element.__name__} cannot hold {shortened(repr(value))}")
    return tuple(values)


def _constant(cursor: Cursor, kind: TypeKind, real: SchemaType) -> Constant:
    token = cursor.token
    if token in _WORDS:
        return _WORDS[cursor.advance()]
    if is_string(token):
        return _string(cursor.advance())
    if is_name(token):
        return _named_constant(cursor, real)
    if token in ('"', "'"):
        cursor.fail("the string that starts here has no closing quote")
    text = f"-{cursor.number()}" if cursor.next_if("-") else cursor.number("a default value")
    if "x" in text.lower():
        raise NotUnderstood("a hexadecimal number is not understood")
    if kind is TypeKind.FLOAT or not text.removeprefix("-").isdecimal():
        return _float(text)
    return _integer(text)


def _named_constant(cursor: Cursor, real: SchemaType) -> int:
    word = cursor.token
    known = _NAMED_CONSTANTS
    if (real.contained[0] if real.kind is TypeKind.OPTIONAL else real).kind is TypeKind.SCALAR_TYPE:
        known = _SCALAR_TYPES | known
    if word not in known:
        cursor.fail(f"'{shortened(word)}' is not a default value", hint=suggestion(word, (*_WORDS, *known)))
    return known[cursor.advance()]


def _integer(text: str) -> int:
    """A whole number of 64 bits. Errors: PartError."""
    if not text.removeprefix("-").isdecimal() or len(text.lstrip("-0")) > _MAX_DIGITS or int(text) not in _INT64:
        raise PartError(f"'{shortened(text)}' is not a 64-bit integer")
    return int(text)


def _float(text: str) -> float:
    value = float(text)
    if abs(value) == float("inf"):
        raise PartError(f"'{shortened(text)}' is not a floating-point number in range")
    return value


def _string(token: str) -> str:
    """The value of a string literal. Errors: NotUnderstood."""

    def plain(escape: re.Match[str]) -> str:
        if escape[1] not in _ESCAPES:
            raise NotUnderstood(f"the escape '{escape[0]}' in a string is not understood")
        return _ESCAPES[escape[1]]

    if not token.isascii():
        raise NotUnderstood("a string as a default value is not understood unless it is ASCII")
    return _ESCAPE.sub(plain, token[1:-1])


def _device(text: str) -> str:
    """A device string such as ``cuda:1``. Errors: PartError."""
    match = DEVICE.fullmatch(text)
    if match is None or match[1] not in DEVICE_TYPES:
        raise PartError(f"'{shortened(text)}' is not a device")
    if len(match[2] or "") > 2:  # PyTorch keeps eight bits of it
        raise NotUnderstood(f"the device index {shortened(match[2])} is not understood")
    return text


def _printed(value: Value, real: SchemaType) -> str:
    """A default value of an argument of the type *real*, as PyTorch prints it."""
    if isinstance(value, str):
        kind = real.contained[0].kind if real.kind is TypeKind.OPTIONAL else real.kind
        return _quoted(value) if kind is TypeKind.STRING else value
    if isinstance(value, tuple) and real.kind is TypeKind.LIST and real.contained[0].kind is TypeKind.INT:
        # As in native_functions.yaml: int[2] stride=1, not stride=[1, 1].
        same = len(value) > 1 and len(set(value)) == 1
        return _constant_printed(value[0] if same else value)
    return _constant_printed(value)


def _constant_printed(value: Value) -> str:
    """*value* as PyTorch prints an IValue; strings without quotes."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_constant_printed, value))}]"
    if not isinstance(value, float):
        return str(value)
    if value.is_integer() and -(2.0**63) <= value < 2.0**63:
        return f"{int(value)}."
    return f"{value:.17g}"


def _quoted(text: str) -> str:
    """*text* in double quotes with PyTorch's escapes."""
    return '"' + "".join(_PRINTED.get(character, character) for character in text) + '"'
