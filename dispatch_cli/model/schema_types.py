"""The types of PyTorch's schema language, as immutable values.

A type is known by its kind, its printed text and the types inside it. Unions are simplified when they are made, in the
way of PyTorch's ``union_type.cpp``: members are flattened, joined where one covers the other, and sorted by kind.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum, auto

from dispatch_cli.model.schema_error import MAX_DEPTH, MAX_UNION, shortened


class TypeKind(IntEnum):
    """Kinds of types, in the order of ``c10::TypeKind``; the order matters, since unions are printed in it."""

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
    FUTURE = auto()
    AWAIT = auto()
    RREF = auto()
    INT = auto()
    NONE = auto()
    STRING = auto()
    GENERATOR = auto()
    QUANTIZER = auto()
    BOOL = auto()
    OPTIONAL = auto()
    VARIABLE = auto()
    DEVICE = auto()
    STREAM = auto()
    CLASS = auto()
    CAPSULE = auto()
    QSCHEME = auto()
    SCALAR_TYPE = auto()
    LAYOUT = auto()
    MEMORY_FORMAT = auto()
    ANY_CLASS = auto()
    SYM_INT = auto()
    SYM_BOOL = auto()
    UNION = auto()


class TypeProblem(Exception):
    """A type that cannot exist; the message is one plain sentence."""


@dataclass(frozen=True, slots=True)
class SchemaType:
    """One type. Types compare as in PyTorch, where one type variable equals any other.

    text: as PyTorch prints it. contained: element, members, or key and value. depth: how deep types nest inside it.
    class_name: of a custom class.
    """

    kind: TypeKind
    text: str = field(compare=False)
    contained: tuple[SchemaType, ...] = ()
    depth: int = field(default=0, compare=False)
    class_name: str = ""

    def __str__(self) -> str:
        return self.text


def custom_class(name: str) -> SchemaType:
    """``__torch__.torch.classes.ns.Name``, given in full."""
    return SchemaType(TypeKind.CLASS, name, class_name=name)


ANY = SchemaType(TypeKind.ANY, "Any")
TENSOR = SchemaType(TypeKind.TENSOR, "Tensor")
NUMBER = SchemaType(TypeKind.NUMBER, "Scalar")
FLOAT = SchemaType(TypeKind.FLOAT, "float")
COMPLEX = SchemaType(TypeKind.COMPLEX, "complex")
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
    "complex": COMPLEX,
    "float": FLOAT,
    "int": INT,
    "str": STRING,
}
"""What a single word stands for (``SchemaTypeParser::parseBaseType``); Tensor is read apart, as PyTorch does."""

SHOWN_AS_INT = frozenset({TypeKind.SCALAR_TYPE, TypeKind.MEMORY_FORMAT, TypeKind.LAYOUT, TypeKind.SYM_INT})
"""Kinds that TorchScript sees as int: PyTorch keeps both, the type it sees and the real one."""

_DICT_KEYS = frozenset(
    {
        TypeKind.ANY,
        TypeKind.INT,
        TypeKind.BOOL,
        TypeKind.FLOAT,
        TypeKind.COMPLEX,
        TypeKind.STRING,
        TypeKind.TENSOR,
        TypeKind.DEVICE,
    }
)
_NUMBERS = (INT, FLOAT, COMPLEX)
_COVARIANT = frozenset({TypeKind.FUTURE, TypeKind.AWAIT, TypeKind.TUPLE})


def _compound(kind: TypeKind, text: str, contained: tuple[SchemaType, ...]) -> SchemaType:
    """Make a type of others, refusing one that nests too deep."""
    depth = 1 + max((inner.depth for inner in contained), default=0)
    if depth > MAX_DEPTH:
        raise TypeProblem(f"types are nested more than {MAX_DEPTH} deep")
    return SchemaType(kind, text, contained, depth)


def list_of(element: SchemaType) -> SchemaType:
    """``element[]``."""
    return _compound(TypeKind.LIST, f"{element.text}[]", (element,))


def tuple_of(elements: tuple[SchemaType, ...]) -> SchemaType:
    """``(a, b)``; the empty tuple exists."""
    return _compound(TypeKind.TUPLE, f"({', '.join(element.text for element in elements)})", elements)


def dict_of(key: SchemaType, value: SchemaType) -> SchemaType:
    """``Dict(key, value)``; raises TypeProblem for a key that PyTorch does not take."""
    if key.kind not in _DICT_KEYS:
        raise TypeProblem(
            f"a Dict key cannot be '{key}': only int, bool, float, complex, str, Tensor, Device and Any can"
        )
    return _compound(TypeKind.DICT, f"Dict({key}, {value})", (key, value))


def wrapper_of(kind: TypeKind, word: str, element: SchemaType) -> SchemaType:
    """``Future(element)``, ``Await(element)`` or ``RRef(element)``."""
    return _compound(kind, f"{word}({element})", (element,))


def optional_of(element: SchemaType) -> SchemaType:
    """``element?``; an optional of an optional is one optional, and an optional None does not exist."""
    if element.kind is TypeKind.NONE:
        raise TypeProblem("None cannot be optional: it is None already")
    if element.kind is TypeKind.OPTIONAL:
        if element.contained != (NUMBER,):
            return element
        element = _union_type(_NUMBERS)  # PyTorch takes Scalar?? apart and does not put it together again
    elif element.kind is TypeKind.UNION:
        element = _without_none(element)
    return _compound(TypeKind.OPTIONAL, f"{element.text}?", (element,))


def union_of(members: tuple[SchemaType, ...]) -> SchemaType:
    """``Union(a, b)``; what is left may be an optional. Raises TypeProblem when one type covers all members."""
    types = _simplified(members)
    if len(types) == 1:
        raise TypeProblem(f"a Union of only '{shortened(types[0].text)}' cannot exist: name that type instead")
    others = tuple(member for member in types if member != NONE)
    if len(others) < len(types):
        if len(others) == 1:
            return optional_of(others[0])
        if set(others) == set(_NUMBERS):
            return optional_of(NUMBER)
    return _union_type(types)


def _without_none(union: SchemaType) -> SchemaType:
    others = tuple(member for member in union.contained if member != NONE)
    return NUMBER if set(others) == set(_NUMBERS) else _union_type(others)


def _union_type(types: Iterable[SchemaType]) -> SchemaType:
    members = tuple(sorted(types, key=lambda member: (member.kind, member.text)))
    return _compound(TypeKind.UNION, _union_text(members), members)


def _union_text(members: tuple[SchemaType, ...]) -> str:
    """Print as PyTorch does, which leaves stray commas (and drops some) where int, float and complex are all there."""
    scalar = set(_NUMBERS) <= set(members)
    printed = [(i, member) for i, member in enumerate(members) if not (scalar and member in _NUMBERS)]
    text = "".join(f", {member}" if i else member.text for i, member in printed)
    if scalar:
        text += f", {NUMBER}" if any(i for i, _ in printed) else NUMBER.text
    return f"Union({text})"


def _simplified(members: tuple[SchemaType, ...]) -> list[SchemaType]:
    """Flatten *members* and join those that one type covers, from right to left."""
    types = [flat for member in members for flat in _flattened(member)]
    if len(types) > MAX_UNION:
        raise TypeProblem(f"a Union has more than {MAX_UNION} members")
    last = len(types) - 1
    for i in range(len(types) - 1, 0, -1):
        for j in range(min(i - 1, last), -1, -1):
            joined = None if (types[i] == NONE) != (types[j] == NONE) else _joined(types[i], types[j])
            if joined is not None:
                types[j] = joined
                types[i] = types[last]
                last -= 1
                break
    return types[: last + 1]


def _flattened(member: SchemaType) -> tuple[SchemaType, ...]:
    if member.kind is TypeKind.UNION:
        return tuple(flat for inner in member.contained for flat in _flattened(inner))
    if member.kind is TypeKind.OPTIONAL:
        return (*_flattened(member.contained[0]), NONE)
    return _NUMBERS if member.kind is TypeKind.NUMBER else (member,)


def _joined(left: SchemaType, right: SchemaType) -> SchemaType | None:
    """The type that covers both (``unifyTypes``), or None."""
    if _is_subtype(left, right):
        return right
    if _is_subtype(right, left):
        return left
    if NONE in (left, right):
        return optional_of(left if right == NONE else right)
    for optional, other in ((left, right), (right, left)):
        if optional.kind is TypeKind.OPTIONAL:
            element = _joined(optional.contained[0], other)
            return None if element is None else optional_of(element)
    if left.kind is right.kind and left.kind in (TypeKind.TUPLE, TypeKind.FUTURE):
        return _joined_inside(left, right)
    return None


def _joined_inside(left: SchemaType, right: SchemaType) -> SchemaType | None:
    if len(left.contained) != len(right.contained):
        return None
    elements = [_joined(a, b) for a, b in zip(left.contained, right.contained, strict=True)]
    found = tuple(element for element in elements if element is not None)
    if len(found) < len(elements):
        return None
    return tuple_of(found) if left.kind is TypeKind.TUPLE else wrapper_of(left.kind, "Future", found[0])


def _is_subtype(left: SchemaType, right: SchemaType) -> bool:
    if left == right or right.kind is TypeKind.ANY:
        return True
    if right.kind is TypeKind.NUMBER:
        return left in _NUMBERS
    if right.kind is TypeKind.OPTIONAL:
        inner = left.contained[0] if left.kind is TypeKind.OPTIONAL else left
        return left.kind is TypeKind.NONE or _is_subtype(inner, right.contained[0])
    if right.kind is TypeKind.UNION:
        members = left.contained if left.kind is TypeKind.UNION else (left,)
        return all(any(_is_subtype(member, other) for other in right.contained) for member in members)
    if left.kind is right.kind and left.kind in _COVARIANT and len(left.contained) == len(right.contained):
        return all(_is_subtype(a, b) for a, b in zip(left.contained, right.contained, strict=True))
    return False
