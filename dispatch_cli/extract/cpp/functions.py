"""Functions around registrations: those that take a library, and the bodies of others."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Set
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, SourceText, lex

_BRACE = re.compile(r"[{}]")
_NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b|=\s*\Z")
_CALLED = re.compile(r"[A-Za-z_]\w*\s*\(")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")
_VARIABLE = re.compile(
    r"\b(Tag|auto)\b[^;(){}=:]{0,60}?\b([A-Za-z_]\w*)\s*(?:[;,){\[]|=(?!\s*(?:\[|&|[\w:]*(?:TORCH_FN|_cast)\b)))"
)
MAX_HEADER = 2000
"""Characters of the head of a function."""


def in_function(token: CppToken) -> bool:
    """True if a registration is in the body of a function."""
    return _in_body(*(token.use or (token.source, token.offset)))


def variables(source: SourceText) -> Set[str]:
    """The names of tags, and of variables outside of functions whose value does not look like a function."""
    if source.variables is None:
        places = _VARIABLE.finditer(source.blanked)
        source.variables = {place[2] for place in places if place[1] == "Tag" or not _in_body(source, place.start())}
    return source.variables


def _in_body(source: SourceText, offset: int) -> bool:
    if source.bodies is None:
        source.bodies = list(_function_bodies(source.blanked))
    index = bisect_left(source.bodies, (offset, 0)) - 1
    return index >= 0 and offset < source.bodies[index][1]


def _function_bodies(blanked: str) -> Iterator[tuple[int, int]]:
    """The places of the braces around each function that is in no other one."""
    depth, outside, opening = 0, -1, 0
    for match in _BRACE.finditer(blanked):
        if match[0] == "{":
            if outside < 0 and _begins_function(blanked, match.start()):
                outside, opening = depth, match.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == outside:
                yield opening, match.start()
                outside = -1
    if outside >= 0:
        yield opening, len(blanked)


def _begins_function(blanked: str, brace: int) -> bool:
    begin = max(brace - MAX_HEADER, 0)
    start = max(begin - 1, *(blanked.rfind(mark, begin, brace) for mark in ";{}#"))
    header = blanked[start + 1 : brace]
    return _CALLED.search(header) is not None and _NOT_A_FUNCTION.search(header) is None


def function_head(token: CppToken) -> tuple[str, list[CppToken]] | None:
    """The name of the function in whose parameters *token* is, and those from the ``(`` up to it. None elsewhere.

    A function that a macro makes is not looked at.
    """
    before = token.source.blanked[max(0, token.offset - 500) : token.offset]
    opening = before.rfind("(")
    if token.use is not None or opening < 0 or any(mark in before[opening + 1 :] for mark in ");{}"):
        return None
    name = _NAME.search(before, 0, opening)
    head = lex(token.source, token.offset - len(before) + opening, token.offset, token.when)
    return None if name is None else (name[1], [*head, token])


class LibraryFunction(NamedTuple):
    """A function that takes a library. parameters: their names. body: its statements."""

    parameters: tuple[str, ...]
    body: tuple[CppToken, ...]


class LibraryFunctions:
    """The functions that were found so far; what one registers that nothing calls, the audit finds.

    complete: all files were read, so that a function that is not here is in none of them.
    asked: a function that is not here was called, and may be in a file that is still to be read.
    """

    def __init__(self) -> None:
        self.complete = False
        self.asked = False
        self.by_name: dict[str, LibraryFunction] = {}

    def get(self, name: str) -> LibraryFunction | None:
        """The function of a name."""
        function = self.by_name.get(name)
        self.asked = self.asked or function is None
        return function
