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


_WORD = re.compile(r"(?:and|or|not)\b")
_JOIN = re.compile(r"(?:and|or)\b")
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?|\'(?:[^\'\\]|\\.)*\'?')
_OPEN, _CLOSE = "([{", ")]}"


def parse_condition(text: str) -> Condition:
    """Read the text of a condition. Errors: ValueError, with what is wrong."""
    parser = _ConditionParser(text)
    condition = parser.either(0)
    if parser.position < len(text):
        raise ValueError(f"there is no '(' for the ')' at character {parser.position + 1}")
    return condition


class _ConditionParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self.position = 0
        self._blanks()

    def either(self, depth: int) -> Condition:
        parts = [self._all(depth)]
        while self._word("or"):
            parts.append(self._all(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _all(self, depth: int) -> Condition:
        parts = [self._single(depth)]
        while self._word("and"):
            parts.append(self._single(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _single(self, depth: int) -> Condition:
        if depth > MAX_NESTING:
            raise ValueError(f"parentheses nest more than {MAX_NESTING} deep")
        if self._word("not"):
            return Not(self._single(depth + 1))
        start = self.position
        if self._text.startswith("(", start):
            self.position += 1
            self._blanks()
            inner = self.either(depth + 1)
            if not self._text.startswith(")", self.position):
                raise ValueError("a ')' is missing")
            self.position += 1
            self._blanks()
            if self._ends():
                return inner
            self.position = start  # the parentheses belong to an atom, such as ``(x + 1) > 2``
        return self._atom()

    def _ends(self) -> bool:
        rest = self._text[self.position : self.position + 4]
        return not rest or rest[0] == ")" or _JOIN.match(rest) is not None

    def _atom(self) -> Atom:
        start, depth, text = self.position, 0, self._text
        while self.position < len(text):
            character = text[self.position]
            if character in "\"'":
                match = _STRING.match(text, self.position)
                assert match is not None
                self.position = match.end()
                continue
            if character in _OPEN:
                depth += 1
            elif character in _CLOSE:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0 and not (text[self.position - 1 : self.position] or " ").isalnum():
                before = text[self.position - 1] if self.position else " "
                if _JOIN.match(text, self.position) and before not in "_." and self.position > start:
                    break
            self.position += 1
        found_text = " ".join(text[start : self.position].split())
        if not found_text:
            raise ValueError(f"a condition is missing at character {start + 1}")
        self._blanks()
        return Atom(found_text)

    def _word(self, word: str) -> bool:
        match = _WORD.match(self._text, self.position)
        if match is None or match[0] != word:
            return False
        self.position = match.end()
        self._blanks()
        return True

    def _blanks(self) -> None:
        while self.position < len(self._text) and self._text[self.position].isspace():
            self.position += 1
