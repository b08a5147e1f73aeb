"""The types of PyTorch's schema language, as immutable values.

A type is known by its printed text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

from dispatch_cli.model.schema.cursor import MAX_DEPTH, PartError

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


def compound(kind: TypeKind, text: str, contained: tuple[SchemaType, ...]) -> SchemaType:
    """Make a type of others, refusing one that nests too deep."""
    depth = 1 + max((inner.depth for inner in contained), default=0)
    if depth > MAX_DEPTH:
        raise PartError(f"types are nested more than {MAX_DEPTH} deep")
    return SchemaType(kind, text, contained, depth)


def optional_of(element: SchemaType) -> SchemaType:
    """``element?``; an optional of an optional is one optional, and an optional None does not exist."""
    if element.kind is TypeKind.NONE:
        raise PartError("None cannot be optional: it is None already")
    return element if element.kind is TypeKind.OPTIONAL else compound(TypeKind.OPTIONAL, f"{element.text}?", (element,))


def list_of(element: SchemaType) -> SchemaType:
    """``element[]``."""
    return compound(TypeKind.LIST, f"{element.text}[]", (element,))


def tuple_of(elements: tuple[SchemaType, ...]) -> SchemaType:
    """``(a, b)``; the empty tuple exists."""
    return compound(TypeKind.TUPLE, f"({', '.join(element.text for element in elements)})", elements)


def dict_of(key: SchemaType, value: SchemaType) -> SchemaType:
    """``Dict(key, value)``."""
    return compound(TypeKind.DICT, f"Dict({key}, {value})", (key, value))


def seen_by_torchscript(real: SchemaType) -> SchemaType:
    """The type for which TorchScript takes a real one."""
    if real.kind in _SHOWN_AS_INT:
        return INT
    if real.kind in (TypeKind.OPTIONAL, TypeKind.LIST):
        seen = seen_by_torchscript(real.contained[0])
        if seen is not real.contained[0]:
            return list_of(seen) if real.kind is TypeKind.LIST else optional_of(seen)
    return real
