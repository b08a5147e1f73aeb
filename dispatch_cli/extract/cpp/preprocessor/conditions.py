"""The conditions of C++ sources: expressions of ``#if`` in three values, and what holds at a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, inside, spelled
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, negated, parts_of, value

When = tuple[Condition, ...]
MAX_DEPTH = 60
"""Maximum depth of a nested expression."""
Decision = bool | Condition
_Value = int | str | Atom | Not | And | Or  # a text is an arithmetic expression that is not known
_PRIORITY = {
    operator: priority
    for priority, operators in enumerate(
        ("||", "&&", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %"), start=1
    )
    for operator in operators.split()
}
_NUMBER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlLzZ]*")
_NAMED = {"and": "&&", "or": "||", "not": "!", "not_eq": "!=", "bitand": "&", "bitor": "|", "xor": "^", "compl": "~"}
_CALCULATED: dict[str, Callable[[int, int], int]] = {
    "==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge, "+": add, "-": sub, "*": mul,
}  # fmt: skip


def facts(when: When) -> dict[str, bool]:
    """The atoms that *when* decides."""
    known: dict[str, bool] = {}
    for condition in when:
        atom = negated(condition) if isinstance(condition, Not) else condition
        if isinstance(atom, Atom):
            known[atom.text] = atom is condition
    return known


def joined(when: When, more: Sequence[Condition]) -> When:
    """Both, without what is there already."""
    if not more:
        return when
    return tuple(dict.fromkeys((*when, *(part for condition in more for part in parts_of(condition)))))


def excludes(when: When, other: When) -> bool:
    """True if they cannot both hold, as far as single atoms and equal conditions tell."""
    known = facts(when)
    return any(value(condition, known) is False or negated(condition) in when for condition in other)


class ExpressionError(Exception):
    """The expression is malformed."""


def decide(tokens: Sequence[CppToken], is_defined: Callable[[str], Decision]) -> Decision:
    """Decide an expression whose macros are replaced, except those of ``defined``. Errors: ExpressionError."""
    parser = _IfParser(tokens, is_defined)
    value = parser.binary(1, 0)
    if parser.index < len(tokens):
        raise ExpressionError(f"'{tokens[parser.index].text}' is not expected")
    return _decision(value)


def conjunction(parts: Sequence[Decision]) -> Decision:
    """Join decisions with ``and``."""
    return _of_parts(parts, And)


def disjunction(parts: Sequence[Decision]) -> Decision:
    """Join decisions with ``or``."""
    return _of_parts(parts, Or)


def _of_parts(parts: Sequence[Decision], kind: type[And] | type[Or]) -> Decision:
    neutral = kind is And
    if any(part is (not neutral) for part in parts):
        return not neutral
    conditions = [part for part in parts if not isinstance(part, bool)]
    operands = dict.fromkeys(
        operand for part in conditions for operand in (part.operands if isinstance(part, kind) else (part,))
    )
    return kind(tuple(operands)) if len(operands) > 1 else next(iter(operands), neutral)


_JOINS = {"&&": conjunction, "||": disjunction}


def opposite(decision: Decision) -> Decision:
    """The opposite."""
    return (not decision) if isinstance(decision, bool) else negated(decision)


def _decision(value: _Value) -> Decision:
    if isinstance(value, int):
        return bool(value)
    return Atom(value) if isinstance(value, str) else value


class _IfParser:
    def __init__(self, tokens: Sequence[CppToken], is_defined: Callable[[str], Decision]) -> None:
        self._tokens = tokens
        self._is_defined = is_defined
        self.index = 0

    def _text(self) -> str:
        if self.index >= len(self._tokens):
            return ""
        text = self._tokens[self.index].text
        return _NAMED.get(text, text)

    def _end(self) -> None:
        if self._text() != ")":
            raise ExpressionError("')' is missing")
        self.index += 1

    def binary(self, lowest: int, depth: int) -> _Value:
        """An expression of operators with at least that priority."""
        left = self._unary(depth + 1)
        while (priority := _PRIORITY.get(operator := self._text(), 0)) >= lowest:
            if operator in _JOINS:
                parts = [_decision(left)]
                while self._text() == operator:
                    self.index += 1
                    parts.append(_decision(self.binary(priority + 1, depth + 1)))
                left = _as_value(_JOINS[operator](parts))
            else:
                self.index += 1
                left = _combined(operator, left, self.binary(priority + 1, depth + 1))
        return left

    def _unary(self, depth: int) -> _Value:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"it nests more than {MAX_DEPTH} deep")
        text = self._text()
        if text in ("!", "-", "+", "~"):
            self.index += 1
            operand = self._unary(depth + 1)
            if text == "!":
                return _as_value(opposite(_decision(operand)))
            if isinstance(operand, int):
                return -operand if text == "-" else ~operand if text == "~" else operand
            return f"{text}{_shown(operand)}"
        if text == "(":
            self.index += 1
            inner = self.binary(1, depth + 1)
            self._end()
            return f"({inner})" if isinstance(inner, str) and not inner.isidentifier() and self._text() else inner
        return self._primary()

    def _primary(self) -> _Value:
        if self.index >= len(self._tokens):
            raise ExpressionError("an operand is missing")
        token = self._tokens[self.index]
        self.index += 1
        if token.kind == "number":
            match = _NUMBER.fullmatch(token.text)
            if match is None:
                return token.text
            digits = match[1].replace("'", "")
            octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
            try:
                return int(digits, 8) if octal else int(digits, 0)
            except ValueError:
                raise ExpressionError(f"'{token.text}' is not a number") from None
        if token.kind == "character":
            return token.text
        if token.kind != "name":
            raise ExpressionError(f"'{token.text}' is not expected")
        if token.text in ("true", "false"):
            return int(token.text == "true")
        if token.text == "defined":
            return self._defined()
        return self._name(token)

    def _defined(self) -> _Value:
        closed = self._text() == "("
        self.index += closed
        if self.index >= len(self._tokens):
            raise ExpressionError("a name is missing behind 'defined'")
        name = self._tokens[self.index].text
        self.index += 1
        if closed:
            self._end()
        return _as_value(self._is_defined(name))

    def _name(self, token: CppToken) -> _Value:
        if self._text() != "(":
            return token.text
        start = self.index
        self.index = inside(self._tokens, start)[1]
        return token.text + spelled(tuple(self._tokens[start : self.index]))


def _as_value(decision: Decision) -> _Value:
    return int(decision) if isinstance(decision, bool) else decision


def _shown(value: _Value) -> str:
    return str(value) if isinstance(value, int | str) else f"({value})"


def _combined(operator: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, int) and isinstance(right, int) and operator in _CALCULATED:
        return int(_CALCULATED[operator](left, right))
    return f"{_shown(left)} {operator} {_shown(right)}"
