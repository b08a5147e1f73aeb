"""The types of PyTorch's schema language, as immutable values.

A type is known by its printed text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum, auto

from dispatch_cli.model.schema.error import MAX_DEPTH, PartError


class TypeKind(Enum):
    """Kinds of types (``c10::TypeKind``)."""

    ANY = auto()
    ANY_ENUM = auto()
    TENSOR = auto()
    STORAGE = auto()
    TUPLE = auto()
    LIST = auto()
    DICT = auto()
    NUMBER = auto()
    FLOAT = auto()
    COMPLEX = auto()
    INT = auto()
    NONE = auto()
    STRING = auto()
    GENERATOR = auto()
    QUANTIZER = auto()
    BOOL = auto()
    OPTIONAL = auto()
    DEVICE = auto()
    STREAM = auto()
    CLASS = auto()
    PY_OBJECT = auto()
    CAPSULE = auto()
    QSCHEME = auto()
    SCALAR_TYPE = auto()
    LAYOUT = auto()
    MEMORY_FORMAT = auto()
    ANY_CLASS = auto()
    SYM_INT = auto()
    SYM_BOOL = auto()


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


ANY = SchemaType(TypeKind.ANY, "Any")
TENSOR = SchemaType(TypeKind.TENSOR, "Tensor")
NUMBER = SchemaType(TypeKind.NUMBER, "Scalar")
FLOAT = SchemaType(TypeKind.FLOAT, "float")
INT = SchemaType(TypeKind.INT, "int")
NONE = SchemaType(TypeKind.NONE, "NoneType")
STRING = SchemaType(TypeKind.STRING, "str")
SYM_INT = SchemaType(TypeKind.SYM_INT, "SymInt")

BASE_TYPES = {
    "Any": ANY,
    "AnyClassType": SchemaType(TypeKind.ANY_CLASS, "AnyClassType"),
    "AnyEnumType": SchemaType(TypeKind.ANY_ENUM, "AnyEnumType"),
    "Capsule": SchemaType(TypeKind.CAPSULE, "Capsule"),
    "ConstQuantizerPtr": INT,
    "Device": SchemaType(TypeKind.DEVICE, "Device"),
    "DeviceIndex": INT,
    "Generator": SchemaType(TypeKind.GENERATOR, "Generator"),
    "Layout": SchemaType(TypeKind.LAYOUT, "Layout"),
    "MemoryFormat": SchemaType(TypeKind.MEMORY_FORMAT, "MemoryFormat"),
    "None": NONE,
    "NoneType": NONE,
    "QScheme": SchemaType(TypeKind.QSCHEME, "QScheme"),
    "Quantizer": SchemaType(TypeKind.QUANTIZER, "Quantizer"),
    "Scalar": NUMBER,
    "ScalarType": SchemaType(TypeKind.SCALAR_TYPE, "ScalarType"),
    "Storage": SchemaType(TypeKind.STORAGE, "Storage"),
    "Stream": SchemaType(TypeKind.STREAM, "Stream"),
    "SymBool": SchemaType(TypeKind.SYM_BOOL, "SymBool"),
    "SymInt": SYM_INT,
    "bool": SchemaType(TypeKind.BOOL, "bool"),
    "complex": SchemaType(TypeKind.COMPLEX, "complex"),
    "float": FLOAT,
    "int": INT,
    "str": STRING,
}
"""Types of single words (``SchemaTypeParser::parseBaseType``); Tensor is read separately, as PyTorch does."""
PRINTED_TYPES = {"PyObject": SchemaType(TypeKind.PY_OBJECT, "PyObject")}
"""Words that PyTorch prints and does not read: that of a class which is registered as an opaque type, for one."""

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
