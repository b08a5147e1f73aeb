"""The conditions of C++ sources: expressions of ``#if`` and ``if`` in three values, and what holds at a place."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import add, eq, ge, gt, le, lt, mul, ne, sub

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, Lookup, outside, spelled, split_at, unwrapped
from dispatch_cli.model.conditions.condition import And, Atom, Condition, Not, Or, negated, parts_of, value

When = tuple[Condition, ...]
Decision = bool | Condition
MAX_DEPTH = 24
"""Maximum depth of a nested expression, and of names that stand for one another in it."""
MAX_NUMBER = 1 << 64
FIND_SCHEMA = "findSchema"
"""The dispatcher's function that asks for an operator."""
_Value = int | str | Atom | Not | And | Or  # a text is an arithmetic expression that is not known
_PRIORITY = {
    operator: priority
    for priority, operators in enumerate(
        ("?", "|| or", "&& and", "|", "^", "&", "== !=", "< > <= >=", "<< >>", "+ -", "* / %")
    )
    for operator in operators.split()
}
_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F']{1,30}|0[bB][01']{1,64}|0[0-7']{0,30}|[1-9][0-9']{0,30})[uUlLzZ]*")
_JOINS: dict[str, type[And] | type[Or]] = {"&&": And, "and": And, "||": Or, "or": Or}
_CALCULATED: dict[str, Callable[[int, int], int]] = {
    "==": eq, "!=": ne, "<": lt, ">": gt, "<=": le, ">=": ge, "+": add, "-": sub, "*": mul,
}  # fmt: skip


def known(condition: Condition, when: When) -> Decision:
    """Decide a condition, as far as the atoms that *when* decides do."""
    facts: dict[str, bool] = {}
    for part in when:
        atom = negated(part) if isinstance(part, Not) else part
        if isinstance(atom, Atom):
            facts[atom.text] = atom is part
    decided = value(condition, facts)
    return condition if decided is None else decided


def joined(when: When, more: Sequence[Condition]) -> When:
    """Both, without what is there already."""
    if not more:
        return when
    return tuple(dict.fromkeys((*when, *(part for condition in more for part in parts_of(condition)))))


def narrowed(when: When, decision: Decision) -> When | None:
    """The conditions where a decision holds as well; None for never."""
    if isinstance(decision, bool):
        return when if decision else None
    return joined(when, [decision])


def combined(parts: Sequence[Decision], kind: type[And] | type[Or]) -> Decision:
    """Join decisions with ``and`` or ``or``."""
    neutral = kind is And
    if any(part is (not neutral) for part in parts):
        return not neutral
    conditions = [part for part in parts if not isinstance(part, bool)]
    operands = dict.fromkeys(
        operand for part in conditions for operand in (part.operands if isinstance(part, kind) else (part,))
    )
    return kind(tuple(operands)) if len(operands) > 1 else next(iter(operands), neutral)


def opposite(decision: Decision) -> Decision:
    """The opposite."""
    return (not decision) if isinstance(decision, bool) else negated(decision)


def decide(tokens: Sequence[CppToken], lookup: Lookup, is_defined: Callable[[str], Decision] = Atom) -> Decision:
    """Decide an expression, as far as its text does. lookup: gives what a name stands for."""
    return _decision(_value(tokens, lookup, is_defined, 0))


def _value(tokens: Sequence[CppToken], lookup: Lookup, is_defined: Callable[[str], Decision], depth: int) -> _Value:
    def inner(part: Sequence[CppToken]) -> _Value:
        return _value(part, lookup, is_defined, depth + 1)

    tokens = unwrapped(tokens)
    texts = [token.text for token in tokens]
    if depth < MAX_DEPTH and (places := _operators(tokens, texts)):
        parts, operators = split_at(tokens, places), [texts[place] for place in places]
        if operators[0] in _JOINS:
            return combined([_decision(inner(part)) for part in parts], _JOINS[operators[0]])
        return _calculated([inner(part) for part in parts], operators)
    if depth < MAX_DEPTH and texts[:1] in (["!"], ["not"]):
        value = inner(tokens[1:])
        return True if isinstance(value, _AskedOperator) else opposite(_decision(value))
    if texts[:1] == ["defined"] and (names := [token.text for token in tokens[1:] if token.kind == "name"]):
        return is_defined(names[0])
    name = texts[:-4] if texts[-4:] == [".", "has_value", "(", ")"] else texts
    if depth < MAX_DEPTH and len(name) == 1 and (meaning := lookup(name[0])):
        return inner(meaning)
    if texts in (["true"], ["false"]):
        return texts == ["true"]
    if _NUMBER.fullmatch(number := "".join(texts)):
        digits = number.rstrip("uUlLzZ").replace("'", "")
        return int(digits, 8 if re.match("-?0[0-7]*$", digits) else 0)
    text = " ".join(spelled(tuple(tokens)).split()) or "…"
    return _AskedOperator(text) if FIND_SCHEMA in texts and texts[-1] == ")" else text


class _AskedOperator(str):
    """The text of a call that asks for an operator: one that is defined where it is not there, is not there yet."""

    __slots__ = ()


def _operators(tokens: Sequence[CppToken], texts: Sequence[str]) -> list[int]:
    """The indices of the operators that are evaluated last."""
    if _PRIORITY.keys().isdisjoint(texts):
        return []
    places = [
        index for index in outside(tokens) if index and texts[index] in _PRIORITY and texts[index - 1] not in _PRIORITY
    ]
    lowest = min((_PRIORITY[texts[index]] for index in places), default=0)
    return [index for index in places if _PRIORITY[texts[index]] == lowest]


def _calculated(values: Sequence[_Value], operators: Sequence[str]) -> _Value:
    numbers = [value for value in values if isinstance(value, int)]
    if len(numbers) == len(values) and all(operator in _CALCULATED for operator in operators):
        result = numbers[0]
        for operator, number in zip(operators, numbers[1:], strict=True):
            result = max(-MAX_NUMBER, min(int(_CALCULATED[operator](result, number)), MAX_NUMBER))
        return result
    first, *others = [str(int(value) if isinstance(value, int) else value) for value in values]
    return first + "".join(f" {operator} {text}" for operator, text in zip(operators, others, strict=True))


def _decision(value: _Value) -> Decision:
    if isinstance(value, int):
        return bool(value)
    return Atom(str(value)) if isinstance(value, str) else value
