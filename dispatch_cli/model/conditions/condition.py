"""Conditions of a registration: what must hold of the build or of the machine for it to take place.

A condition is a Boolean expression over *atoms*, which are texts such as ``defined(USE_ROCM)``,
``CUDA_VERSION >= 12000`` or ``torch.cuda.is_available()``. In its text they are joined by ``and``, ``or``, ``not`` and
parentheses. No two of them that say something else are equal: *all of* some parts is not *one of* them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

MAX_NESTING = 50
"""Greatest depth of parentheses in a condition."""


@dataclass(frozen=True, slots=True)
class Atom:
    """Something that is true or false. text: as the source has it, with single blanks."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Not:
    operand: Condition

    def __str__(self) -> str:
        return f"not {_part(self.operand)}"


@dataclass(frozen=True, slots=True)
class And:
    operands: tuple[Condition, ...]

    def __str__(self) -> str:
        return " and ".join(map(_part, self.operands))


@dataclass(frozen=True, slots=True)
class Or:
    operands: tuple[Condition, ...]

    def __str__(self) -> str:
        return " or ".join(map(_part, self.operands))


Condition = Atom | Not | And | Or


def _part(condition: Condition) -> str:
    return f"({condition})" if isinstance(condition, And | Or) else str(condition)


def all_text(conditions: Iterable[Condition]) -> str:
    """The text of conditions that all hold; empty for none."""
    several = list(conditions)
    if len(several) == 1:
        return str(several[0])
    return " and ".join(f"({condition})" if isinstance(condition, Or) else str(condition) for condition in several)


def negated(condition: Condition) -> Condition:
    """The opposite, without a double ``not``."""
    return condition.operand if isinstance(condition, Not) else Not(condition)


def parts_of(condition: Condition) -> tuple[Condition, ...]:
    """Conditions that all hold where this one does, and nowhere else."""
    if isinstance(condition, And):
        return condition.operands
    if isinstance(condition, Not) and isinstance(condition.operand, Or):
        return tuple(map(negated, condition.operand.operands))
    return (condition,)


def atoms(condition: Condition) -> Iterator[str]:
    """The texts of the atoms in it, in order; some more than once."""
    match condition:
        case Atom(text):
            yield text
        case Not(operand):
            yield from atoms(operand)
        case And(operands) | Or(operands):
            for operand in operands:
                yield from atoms(operand)


def value(condition: Condition, known: Mapping[str, bool]) -> bool | None:
    """True if it holds; None where that depends on atoms that are not *known*."""
    match condition:
        case Atom(text):
            return known.get(text)
        case Not(operand):
            inner = value(operand, known)
            return None if inner is None else not inner
        case And(operands) | Or(operands):
            deciding = isinstance(condition, Or)
            result: bool | None = not deciding
            for operand in operands:
                inner = value(operand, known)
                if inner is deciding:
                    return deciding
                if inner is None:
                    result = None
            return result


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|\'(?:[^\'\\]|\\.)*\'?|[\w.]+|\S')
"""A string, a word with what it is a part of, or another sign."""
_OPENING, _CLOSING, _JOINS = ("(", "[", "{"), (")", "]", "}"), ("and", "or")


def parse_condition(text: str) -> Condition:
    """Read the text of a condition. Errors: ValueError, with what is wrong."""
    parser = _ConditionParser(text)
    condition = parser.either(0)
    if parser.token:
        raise ValueError(f"there is no '(' for the ')' at character {parser.place + 1}")
    return condition


class _ConditionParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._matches = [*_TOKEN.finditer(text)]
        self._at = 0

    @property
    def token(self) -> str:
        """The current token; empty at the end."""
        return self._matches[self._at][0] if self._at < len(self._matches) else ""

    @property
    def place(self) -> int:
        """The offset of the current token."""
        return self._matches[self._at].start() if self.token else len(self._text)

    def either(self, depth: int) -> Condition:
        parts = [self._all(depth)]
        while self._next_if("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self, depth: int) -> Condition:
        parts = [self._single(depth)]
        while self._next_if("and"):
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _single(self, depth: int) -> Condition:
        if depth > MAX_NESTING:
            raise ValueError(f"parentheses nest more than {MAX_NESTING} deep")
        if self._next_if("not"):
            return Not(self._single(depth + 1))
        start = self._at
        if self._next_if("("):
            inner = self.either(depth + 1)
            if not self._next_if(")"):
                raise ValueError("a ')' is missing")
            if self.token in ("", ")", *_JOINS):
                return inner
            self._at = start  # the parentheses belong to an atom, such as ``(x + 1) > 2``
        return self._atom()

    def _atom(self) -> Atom:
        start, depth = self._at, 0
        while (token := self.token) and (depth or token not in (*_JOINS, *_CLOSING)):
            depth += (token in _OPENING) - (token in _CLOSING)
            self._at += 1
        if self._at == start:
            raise ValueError(f"a condition is missing at character {self.place + 1}")
        text = self._text[self._matches[start].start() : self._matches[self._at - 1].end()]
        return Atom(" ".join(text.split()))

    def _next_if(self, word: str) -> bool:
        is_here = self.token == word
        self._at += is_here
        return is_here
