"""Surroundings of a place in a C++ file, by its text: the function around it, the variable that is initialised."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex

_BRACE = re.compile(r"[{}]")
_NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b|=\s*\Z")
_CALLED = re.compile(r"([A-Za-z_]\w*)\s*\(")
_VARIABLE = re.compile(r"([A-Za-z_]\w*)\s*(?:=|\(|\{)\s*(?:[\w:]+::)?\s*\Z")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")
_NOT_PARAMETERS = frozenset({")", ";", "{", "}"})
MAX_HEADER = 2000
"""Characters of the head of a function."""


def enclosing_function(text: SourceText, offset: int) -> str | None:
    """The name of the outermost function around a place; None at file scope."""
    if text.braces is None:
        text.braces = _Braces(text.blanked)
    function: str | None = text.braces.function_at(offset)
    return function


class _Braces:
    """The braces of a text, and the outermost function around each place: looked for once for all blocks in it."""

    def __init__(self, blanked: str) -> None:
        self._places: list[int] = []
        self._functions: list[str | None] = []
        """The function around what is behind each brace."""
        around: list[str | None] = [None]
        for match in _BRACE.finditer(blanked):
            if match[0] == "{":
                around.append(around[-1] or _function_before(blanked, match.start()))
            elif len(around) > 1:
                around.pop()
            self._places.append(match.start())
            self._functions.append(around[-1])

    def function_at(self, offset: int) -> str | None:
        index = bisect_left(self._places, offset)
        return self._functions[index - 1] if index else None


def _function_before(blanked: str, brace: int) -> str | None:
    """The function that an opening brace begins."""
    begin = max(brace - MAX_HEADER, 0)
    start = max(begin - 1, *(blanked.rfind(mark, begin, brace) for mark in ";{}#"))
    header = blanked[start + 1 : brace]
    called = _CALLED.search(header)
    return called[1] if called is not None and _NOT_A_FUNCTION.search(header) is None else None


def variable_before(text: SourceText, offset: int) -> str | None:
    """The variable that the expression at a place initialises."""
    match = _VARIABLE.search(text.blanked, max(0, offset - 200), offset)
    return match[1] if match else None


def function_head(token: CppToken, before: Sequence[CppToken]) -> tuple[str, list[CppToken]] | None:
    """The name of the function in whose parameters *token* is, and the tokens from the ``(`` on. None elsewhere.

    before: the tokens before it, of one out of a macro; *token* is the last of them.
    """
    if token.use is None:
        place = _parameter_list(token.source, token.offset)
        if place is None:
            return None
        name, opening = place
        return name, list(lex(token.source, opening, token.offset))
    index = len(before) - 2
    while index > 0 and before[index].text != "(" and before[index].text not in _NOT_PARAMETERS:
        index -= 1
    if index < 1 or before[index].text != "(" or before[index - 1].kind != "name":
        return None
    return before[index - 1].text, list(before[index:-1])


def _parameter_list(text: SourceText, offset: int) -> tuple[str, int] | None:
    before = text.blanked[max(0, offset - 500) : offset]
    opening = before.rfind("(")
    if opening < 0 or any(mark in before[opening + 1 :] for mark in ");{}"):
        return None
    name = _NAME.search(before, 0, opening)
    return None if name is None else (name[1], offset - len(before) + opening)
