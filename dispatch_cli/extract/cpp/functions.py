"""Functions around registrations: those that take a library, and the bodies of others."""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, lex

_NAME = re.compile(r"([A-Za-z_]\w*)\s*\Z")


def in_function(token: CppToken) -> bool:
    """True if a registration is in the body of a function."""
    source, offset = token.use or (token.source, token.offset)
    return source.in_function(offset)


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
