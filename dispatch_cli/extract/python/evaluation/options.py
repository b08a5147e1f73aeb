"""Values and conditions that are made of others."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dispatch_cli.extract.python.evaluation.values import (
    Alternatives,
    ClassValue,
    Dotted,
    Opaque,
    TypeArguments,
    Value,
    ValueOption,
    constant,
)
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, negated

_JOINED = re.compile(r"\b(?:and|or)\b|^not\b")

MAX_ATOMS = 16
"""Atoms of a condition that is made of others."""
MAX_DEPTH = 120
"""Maximum depth of expressions, statements and calls together."""
MAX_OPTIONS = 8
"""Values that one name may have under different conditions."""


def is_small(condition: Condition) -> bool:
    """True if a condition has no more than `MAX_ATOMS` atoms."""
    pending, count = [condition], 0
    while pending and count <= MAX_ATOMS:
        part = pending.pop()
        if isinstance(part, And | Or):
            pending += part.operands
        elif isinstance(part, Not):
            pending.append(part.operand)
        else:
            count += 1
    return count <= MAX_ATOMS


def without(condition: Condition, known: list[Condition]) -> Condition:
    """A part of ``a or (not a and b)``, without what the other parts say."""
    if not isinstance(condition, And):
        return condition
    rest = tuple(operand for operand in condition.operands if operand not in known)
    return condition if not rest else rest[0] if len(rest) == 1 else And(rest)


def all_of(parts: list[bool | Condition], conjunction: bool) -> bool | Condition:
    """Condition under which all of the parts hold, or any of them."""
    left: list[Condition] = []
    for part in parts:
        if isinstance(part, bool):
            if part is not conjunction:
                return part
        elif part not in left:
            left.append(part)
    for operand in left:
        if negated(operand) in left:
            return not conjunction
    if not conjunction:
        left = [without(operand, [negated(other) for other in left if other is not operand]) for operand in left]
    if not left:
        return conjunction
    if len(left) == 1:
        return left[0]
    return And(tuple(left)) if conjunction else Or(tuple(left))


def atom(text: str) -> Atom:
    """The atom of a test."""
    return Atom(f"bool({text})" if _JOINED.search(text) else text)


def conditional(when: Sequence[Condition], first: Value, second: Value) -> Value:
    """The value where all conditions hold, and otherwise."""
    if not when:
        return first
    rest = negated(when[0] if len(when) == 1 else And(tuple(when)))
    return merged([ValueOption(tuple(when), first), ValueOption((rest,), second)])


def exclusive(options: list[ValueOption]) -> list[ValueOption]:
    """Results of a function, where one without a condition holds only if those of the later ones do not."""
    result: list[ValueOption] = []
    later: list[Condition] = []
    for option in reversed(options):
        result.append(option if option.when else ValueOption(tuple(map(negated, reversed(later))), option.value))
        if len(option.when) == 1 and len(later) < MAX_ATOMS:
            later.append(option.when[0])
    return result[::-1]


def merged(options: list[ValueOption]) -> Value:
    """Merge several values into one: the only one, or alternatives."""
    flat: list[ValueOption] = []
    for option in options:
        if isinstance(option.value, Alternatives):
            flat += [ValueOption((*option.when, *inner.when), inner.value) for inner in option.value.options]
        else:
            flat.append(option)
    if not flat:
        return Opaque(None)
    first = flat[0].value
    if all(
        option.value is first or (constant(first) and type(option.value) is type(first) and option.value == first)
        for option in flat
    ):
        return first
    if len(flat) > MAX_OPTIONS:
        return Opaque(None, "a value under many conditions")
    return Alternatives(tuple(flat))


def is_type(value: Value) -> bool:
    """True if a value may be a type."""
    return isinstance(value, Dotted | TypeArguments | ClassValue)
