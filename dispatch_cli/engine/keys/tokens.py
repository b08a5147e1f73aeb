"""The words and signs of a key-set expression, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.model.problem import InputError, Problem
from dispatch_cli.model.span import Span, cut_line

MAX_LENGTH = 16 * 1024
"""Characters of one expression; PyTorch's longest key set prints in a fifth of it."""
MAX_DEPTH = 64
"""Maximum depth of nested brackets."""

MAX_SHOWN = 60
"""Characters of a wrong name that a message shows."""
_PREFIXES = ("torch._C.", "torch.", "c10::", "DispatchKey.", "DispatchKey::", "BackendComponent::")

_TOKEN = re.compile(
    r"(?P<blank>\s+)|(?P<number>[0-9][0-9A-Za-z_]*)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:(?:\.|::)[A-Za-z_][A-Za-z0-9_]*)*)"
    r"|(?P<sign>[|&(),-])",
    re.ASCII,
)
_OTHER_SIGNS = {
    "+": "write | for the union",
    "~": "write FULL - KEY for everything but a key",
    "^": "there is no symmetric difference; PyTorch has |, & and -",
    "{": "write DispatchKeySet(A, B), or A | B",
    "[": "write DispatchKeySet(A, B), or A | B",
}


class TokenKind(Enum):
    """Kind of a token."""

    NAME = "name"
    NUMBER = "number"
    SIGN = "sign"
    END = "the end"


class Token(NamedTuple):
    """One word or sign. start: its offset in the text."""

    kind: TokenKind
    text: str
    start: int


class ExpressionMistake(Exception):
    """The text is not a key-set expression."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def problem_at(
    text: str, origin: str, start: int, message: str, hint: str | None = None, code: str = "key-expression"
) -> Problem:
    """A mistake at an offset of an expression; *origin* stands where a file's name would."""
    before = text[:start]
    line = before.count("\n") + 1
    column = start - (before.rfind("\n") + 1) + 1
    lines = text.split("\n")
    return Problem(code, message, Span(origin, line, column), cut_line(lines[line - 1], column), hint)


def tokens(text: str, origin: str) -> Iterator[Token]:
    """The tokens of *text*, and at last one for its end. Errors: ExpressionMistake, InputError for a text too long."""
    if len(text) > MAX_LENGTH:
        message = f"a key-set expression has at most {MAX_LENGTH} characters, not {len(text)}"
        raise InputError((Problem("key-expression", message),))
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            sign = text[position]
            hint = _OTHER_SIGNS.get(sign, "keys are joined by | (or), & (and) and - (without)")
            raise ExpressionMistake(
                problem_at(text, origin, position, f"{sign!r} has no meaning in a key-set expression", hint)
            )
        position = match.end()
        if match.lastgroup != "blank":
            yield Token(TokenKind(match.lastgroup), match.group(), match.start())
    yield Token(TokenKind.END, "", len(text))


def bare(name: str) -> str:
    """A name without what Python and C++ write before it, such as ``DispatchKey.``"""
    return name.replace("::", ".").rpartition(".")[2] if name.startswith(_PREFIXES) else name


def cut(name: str) -> str:
    """A name as a message shows it."""
    return name if len(name) <= MAX_SHOWN else f"{name[:MAX_SHOWN]}…"
