"""The parts of C++ statements: where they end, what their conditions say, what their lists hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dispatch_cli.extract.cpp.brackets import inside, split, unwrapped
from dispatch_cli.extract.cpp.if_expression import Decision, conjunction, disjunction, opposite
from dispatch_cli.extract.cpp.tokens import CppToken, spelled
from dispatch_cli.extract.cpp.values import Lookup
from dispatch_cli.extract.work import WorkBudget
from dispatch_cli.model.condition import Atom

MAX_NESTED = 40
"""Maximum depth of nested conditions and names."""
_HEADED = frozenset({"if", "for", "while", "switch", "else", "constexpr", "do", "try", "catch"})


def end_of(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index of the ``;`` of the statement at *index*."""
    while index < len(tokens) and tokens[index].text != ";":
        index = pairs.get(index, index) + 1
    return index


def extent(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement that begins at *index*, without the ``else`` of an ``if``."""
    while index < len(tokens) and tokens[index].text in _HEADED:
        index += 1
        if index < len(tokens) and tokens[index].text == "constexpr":
            index += 1
        if index < len(tokens) and tokens[index].text == "(":
            index = pairs[index] + 1
    if index < len(tokens) and tokens[index].text == "{":
        return pairs[index] + 1
    return min(end_of(tokens, index, pairs) + 1, len(tokens))


def whole(tokens: Sequence[CppToken], index: int, pairs: Mapping[int, int]) -> int:
    """The index behind the statement at *index*, with the ``else`` of an ``if``."""
    is_if = index < len(tokens) and tokens[index].text == "if"
    end = extent(tokens, index, pairs)
    while is_if and end < len(tokens) and tokens[end].text == "else":
        end = extent(tokens, end + 1, pairs)
    return end


def decision_of(tokens: Sequence[CppToken], lookup: Lookup, depth: int = 0) -> Decision:
    """Evaluate the condition of an ``if``, as far as the text decides it."""
    tokens = unwrapped(tokens)
    if depth < MAX_NESTED and tokens:
        for operator, join in (("||", disjunction), ("&&", conjunction)):
            parts = split(tokens, operator)
            if len(parts) > 1:
                return join([decision_of(part, lookup, depth + 1) for part in parts])
        if tokens[0].text == "!" and (len(tokens) == 2 or inside(tokens, 1)[1] == len(tokens)):
            return opposite(decision_of(tokens[1:], lookup, depth + 1))
        if len(tokens) == 1:
            if tokens[0].text in ("true", "false", "0", "1"):
                return tokens[0].text in ("true", "1")
            value = lookup(tokens[0].text)
            if value:
                return decision_of(value, lookup, depth + 1)
    return Atom(" ".join(spelled(tuple(tokens)).split()) or "…")


def elements_of(tokens: Sequence[CppToken], lookup: Lookup, steps: int = 0) -> list[list[CppToken]] | None:
    """The elements of a list that is written down; None for something else."""
    tokens = unwrapped(tokens)
    if len(tokens) == 1 and tokens[0].kind == "name" and steps < MAX_NESTED:
        value = lookup(tokens[0].text)
        return None if value is None else elements_of(value, lookup, steps + 1)
    for index, token in enumerate(tokens):
        if token.text == "{":
            body, end = inside(tokens, index)
            if end != len(tokens):
                return None
            parts = split(body)
            return parts[:-1] if parts and not parts[-1] else parts
        if token.kind not in ("name", "number") and token.text not in ("::", "<", ">", "*", ",", "&", ">>"):
            return None
    return None


def substitute(tokens: list[CppToken], values: Mapping[str, Sequence[CppToken]], work: WorkBudget) -> list[CppToken]:
    """The tokens with values in place of names. work: what is made is counted in it. Errors: OverWork."""
    result: list[CppToken] = []
    work.spend(len(tokens))
    for index, token in enumerate(tokens):
        value = values.get(token.text) if token.kind == "name" else None
        before = tokens[index - 1].text if index else ""
        if value is None or before in (".", "->", "::"):
            result.append(token)
        elif len(value) == 1:  # a name for another one: it stays at its place
            result.append(token._replace(kind=value[0].kind, text=value[0].text))
        else:
            work.spend(len(value))
            result.extend(
                part._replace(when=token.when, space=part.space if number else token.space)
                for number, part in enumerate(value)
            )
    return result


def initialised(tokens: Sequence[CppToken]) -> tuple[str, list[CppToken]]:
    """The name and the value of a declaration such as ``const char* name = "x"``; empty for something else."""
    for index, token in enumerate(tokens):
        if token.text == "=" and token.kind == "mark" and index > 1:
            back = index - 1
            while back > 0 and tokens[back].text == "]":
                while back > 0 and tokens[back].text != "[":
                    back -= 1
                back -= 1
            return (tokens[back].text, list(tokens[index + 1 :])) if tokens[back].kind == "name" else ("", [])
        if token.text in ("(", "{", "."):
            if token.text == "{" and index > 1 and tokens[index - 1].kind == "name":
                return tokens[index - 1].text, list(tokens[index:])
            return "", []
    return "", []
