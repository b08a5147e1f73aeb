"""Values and conditions that are made of others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

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
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Or, atoms, negated
from dispatch_cli.model.conditions.simplify import simplified
from dispatch_cli.model.conditions.worlds import TORCH_VERSION

_JOINED = re.compile(r"\b(?:and|or)\b|^not\b")

MAX_ATOMS = 16
"""Atoms of a condition that is made of others."""
MAX_DEPTH = 120
"""Maximum depth of expressions, statements and calls together."""
MAX_OPTIONS = 8
"""Values that one name may have under different conditions."""


def joined(parts: Sequence[bool | Condition], conjunction: bool) -> bool | Condition | None:
    """Condition under which all parts hold, or any of them, in a short form; None where it has too many atoms."""
    conditions = (part for part in parts if not isinstance(part, bool))
    kind = And if conjunction else Or
    left = [own for part in conditions for own in (part.operands if isinstance(part, kind) else (part,))]
    if (not conjunction) in parts or any(negated(part) in left for part in left):
        return not conjunction
    if not left:
        return conjunction
    whole = left[0] if len(left) == 1 else kind(tuple(left))
    names = [*islice(atoms(whole), MAX_ATOMS + 1)]
    if len(names) > MAX_ATOMS:
        return None
    of_version = sum(name.startswith(TORCH_VERSION) for name in names)
    return whole if len(set(names)) == len(names) and of_version < 2 else simplified(whole) or True


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
