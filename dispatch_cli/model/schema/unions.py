"""Optionals and unions, in the way of PyTorch's ``union_type.cpp``.

They are simplified when they are made: members are flattened, joined where one covers the other, and sorted by kind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from dispatch_cli.model.schema.error import MAX_UNION, shortened
from dispatch_cli.model.schema.refusal import Theirs, asserted
from dispatch_cli.model.schema.types import (
    NONE,
    NUMBER,
    NUMBERS,
    SchemaType,
    TypeKind,
    TypeProblem,
    compound,
    tuple_of,
    wrapper_of,
)

_COVARIANT = frozenset({TypeKind.FUTURE, TypeKind.AWAIT, TypeKind.TUPLE})
_ANNOTATIONS = {
    TypeKind.TUPLE: "Tuple",
    TypeKind.LIST: "List",
    TypeKind.DICT: "Dict",
    TypeKind.FUTURE: "Future",
    TypeKind.AWAIT: "Await",
    TypeKind.RREF: "RRef",
    TypeKind.OPTIONAL: "Optional",
    TypeKind.UNION: "Union",
}
_OTHER_WORDS = {TypeKind.NUMBER: "number", TypeKind.SYM_BOOL: "bool"}


def optional_of(element: SchemaType) -> SchemaType:
    """``element?``; an optional of an optional is one optional, and an optional None does not exist."""
    if element.kind is TypeKind.NONE:
        raise TypeProblem("None cannot be optional: it is None already", _single((element, NONE), element))
    if element.kind is TypeKind.OPTIONAL:
        if element.contained != (NUMBER,):
            return element
        element = _union_type(NUMBERS)  # PyTorch takes Scalar?? apart and does not put it together again
    elif element.kind is TypeKind.UNION:
        element = _without_none(element)
    return compound(TypeKind.OPTIONAL, f"{element.text}?", (element,))


def optional_as_printed(element: SchemaType) -> SchemaType:
    """``element?`` as PyTorch has printed it."""
    return compound(TypeKind.OPTIONAL, f"{element.text}?", (element,))


def union_as_printed(members: tuple[SchemaType, ...]) -> SchemaType:
    """``Union(a, b)`` as PyTorch has printed it, which is simple already."""
    if len(members) > MAX_UNION:
        raise _too_many()
    return _union_type(flat for member in members for flat in (NUMBERS if member is NUMBER else (member,)))


def union_of(members: tuple[SchemaType, ...]) -> SchemaType:
    """``Union(a, b)``; what is left may be an optional. Raises TypeProblem when one type covers all members."""
    types = _simplified(members)
    if len(types) == 1:
        message = f"a Union of only '{shortened(types[0].text)}' cannot exist: name that type instead"
        raise TypeProblem(message, _single(members, types[0]))
    others = tuple(member for member in types if member != NONE)
    if len(others) < len(types):
        if len(others) == 1:
            return optional_of(others[0])
        if set(others) == set(NUMBERS):
            return optional_of(NUMBER)
    return _union_type(types)


def _without_none(union: SchemaType) -> SchemaType:
    others = tuple(member for member in union.contained if member != NONE)
    return NUMBER if set(others) == set(NUMBERS) else _union_type(others)


def _union_type(types: Iterable[SchemaType]) -> SchemaType:
    members = tuple(sorted(types, key=lambda member: (member.kind, member.text)))
    return compound(TypeKind.UNION, f"Union({_union_text(members)})", members)


def _union_text(members: tuple[SchemaType, ...], text_of: Callable[[SchemaType], str] = str) -> str:
    """Print as PyTorch does, which leaves stray commas (and drops some) where int, float and complex are all there."""
    scalar = set(NUMBERS) <= set(members)
    printed = [(i, member) for i, member in enumerate(members) if not (scalar and member in NUMBERS)]
    text = "".join(f", {text_of(member)}" if i else text_of(member) for i, member in printed)
    if scalar:
        text += f", {text_of(NUMBER)}" if any(i for i, _ in printed) else text_of(NUMBER)
    return text


def annotation(shown: SchemaType) -> str:
    """*shown* as a Python annotation, which is how PyTorch's message names it (``annotation_str``)."""
    word = _ANNOTATIONS.get(shown.kind)
    if word is None:
        return _OTHER_WORDS.get(shown.kind, shown.text)
    if shown.kind is TypeKind.UNION:
        return f"Union[{_union_text(shown.contained, annotation)}]"
    return f"{word}[{', '.join(map(annotation, shown.contained)) or '()'}]"


def _single(members: tuple[SchemaType, ...], left: SchemaType) -> Theirs:
    """PyTorch's refusal of a union of which one type is left."""
    texts = "".join(f"{annotation(member)}{',' if i else ''} " for i, member in enumerate(members))
    return asserted(
        "false",
        "aten/src/ATen/core/union_type.cpp",
        f"After type unification was performed, the Union with the original types {{{texts}}} has the single type "
        f"{annotation(left)}. Use the common supertype instead of creating a Uniontype",
    )


def _simplified(members: tuple[SchemaType, ...]) -> list[SchemaType]:
    """Flatten *members* and join those that one type covers, from right to left."""
    types = [flat for member in members for flat in _flattened(member)]
    if len(types) > MAX_UNION:
        raise _too_many()
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


def _too_many() -> TypeProblem:
    return TypeProblem(f"a Union has more than {MAX_UNION} members", None)


def _flattened(member: SchemaType) -> tuple[SchemaType, ...]:
    if member.kind is TypeKind.UNION:
        return tuple(flat for inner in member.contained for flat in _flattened(inner))
    if member.kind is TypeKind.OPTIONAL:
        return (*_flattened(member.contained[0]), NONE)
    return NUMBERS if member.kind is TypeKind.NUMBER else (member,)


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


def _is_same(left: SchemaType, right: SchemaType) -> bool:
    """Whether PyTorch takes the types for equal, which Scalar and the union of its members are."""
    if left == right or "Union(Scalar)" not in left.text + right.text:
        return left == right
    return _with_scalar(left) == _with_scalar(right)


def _with_scalar(shown: SchemaType) -> SchemaType:
    if shown.kind is TypeKind.UNION and set(shown.contained) == set(NUMBERS):
        return NUMBER
    return replace(shown, contained=tuple(map(_with_scalar, shown.contained))) if shown.contained else shown


def _is_subtype(left: SchemaType, right: SchemaType) -> bool:
    if _is_same(left, right) or right.kind is TypeKind.ANY:
        return True
    if right.kind is TypeKind.NUMBER:
        return left in NUMBERS
    if right.kind is TypeKind.OPTIONAL:
        inner = left.contained[0] if left.kind is TypeKind.OPTIONAL else left
        return left.kind is TypeKind.NONE or _is_subtype(inner, right.contained[0])
    if right.kind is TypeKind.UNION:
        members = left.contained if left.kind is TypeKind.UNION else (left,)
        return all(any(_is_subtype(member, other) for other in right.contained) for member in members)
    if left.kind is right.kind and left.kind in _COVARIANT and len(left.contained) == len(right.contained):
        return all(_is_subtype(a, b) for a, b in zip(left.contained, right.contained, strict=True))
    return False
