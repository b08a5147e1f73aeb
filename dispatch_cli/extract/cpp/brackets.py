"""Brackets in a list of tokens: which belong together, the parts between commas, and chains of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.extract.cpp.tokens import CppToken

_CLOSING = {"(": ")", "[": "]", "{": "}"}
MAX_ANGLE = 4000
"""Tokens between ``<`` and ``>`` of template arguments."""
MAX_LESS = 64
"""So many signs ``<`` that begin no template arguments are looked at in one list; the others are less-than."""
MAX_PARENTHESES = 64
"""Parentheses around one expression that are taken off."""


def nesting(token: CppToken) -> int:
    """1 for a bracket that opens, -1 for one that closes, 0 for others."""
    if token.kind != "mark":
        return 0
    return (token.text in ("(", "{", "[")) - (token.text in (")", "}", "]"))


def partners(tokens: Sequence[CppToken]) -> dict[int, int] | None:
    """The closing bracket of each opening one, by index; None where they do not match."""
    pairs: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in _CLOSING:
            stack.append(index)
        elif token.text in ")]}":
            if not stack or _CLOSING[tokens[stack[-1]].text] != token.text:
                return None
            pairs[stack.pop()] = index
    return None if stack else pairs


def angle_end(tokens: Sequence[CppToken], start: int) -> int | None:
    """The index behind the ``>`` of template arguments that begin with the ``<`` at *start*; None for less-than."""
    depth, inner = 0, 0
    for index in range(start, min(len(tokens), start + MAX_ANGLE)):
        token = tokens[index]
        text = token.text if token.kind == "mark" else ""
        if not text:
            continue
        if text in "([{":
            inner += 1
        elif text in ")]}":
            inner -= 1
            if inner < 0:
                return None
        elif inner == 0:
            if text == "<":
                depth += 1
            elif text in (">", ">>"):
                depth -= len(text)
                if depth <= 0:
                    return index + 1
            elif text in (";", "&&", "||"):
                return None
    return None


def split(tokens: Sequence[CppToken], separator: str = ",") -> list[list[CppToken]]:
    """The parts between separators that are in no brackets, template arguments included."""
    parts: list[list[CppToken]] = [[]]
    depth = less = 0
    index = 0
    while index < len(tokens):
        token = tokens[index]
        text = token.text if token.kind == "mark" else ""
        if text == "<" and index and tokens[index - 1].kind == "name" and less < MAX_LESS:
            end = angle_end(tokens, index)
            if end is not None:
                parts[-1].extend(tokens[index:end])
                index = end
                continue
            less += 1
        depth += nesting(token)
        if text == separator and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
        index += 1
    return parts if len(parts) > 1 or parts[0] else []


def inside(tokens: Sequence[CppToken], opening: int = 0) -> tuple[list[CppToken], int]:
    """Tokens between the bracket at *opening* and its partner, and the index behind the partner."""
    depth = 0
    for index in range(opening, len(tokens)):
        depth += nesting(tokens[index])
        if depth == 0:
            return list(tokens[opening + 1 : index]), index + 1
    return list(tokens[opening + 1 :]), len(tokens)


def unwrapped(tokens: Sequence[CppToken]) -> list[CppToken]:
    """Without parentheses around all of it."""
    if len(tokens) < 2 or tokens[0].text != "(" or (pairs := partners(tokens)) is None:
        return list(tokens)
    off, last = 0, len(tokens) - 1
    while off < MAX_PARENTHESES and off < last - off and tokens[off].text == "(" and pairs.get(off) == last - off:
        off += 1
    return list(tokens[off : len(tokens) - off])


class ChainCall(NamedTuple):
    """A call ``.name<template>(arguments)``. tokens: all of it."""

    name: str
    template: list[CppToken]
    arguments: list[list[CppToken]]
    tokens: list[CppToken]


def chain_calls(tokens: Sequence[CppToken]) -> list[ChainCall] | None:
    """The calls of ``.a(...).b<c>(...)``; None for something else."""
    calls: list[ChainCall] = []
    index = 0
    while index < len(tokens):
        start = index
        if tokens[index].text not in (".", "->") or index + 1 == len(tokens):
            return None
        index += 1 + (tokens[index + 1].text == "template")
        name = tokens[index].text
        index += 1
        template: list[CppToken] = []
        if index < len(tokens) and tokens[index].text == "<":
            end = angle_end(tokens, index)
            if end is None:
                return None
            template = list(tokens[index + 1 : end - 1])
            index = end
        if index >= len(tokens) or tokens[index].text != "(":
            return None
        body, index = inside(tokens, index)
        calls.append(ChainCall(name, template, split(body), list(tokens[start:index])))
    return calls
