"""Walking over the tokens of a schema, and refusing it at one of them.

The tokens are those of PyTorch's ``torch/csrc/jit/frontend/lexer.h``, which is the lexer of TorchScript: it knows
Python's keywords, which is why an argument cannot be called ``in``. Comments and continued lines are not read: no
schema has any.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NoReturn, TypeVar

MAX_LENGTH = 64 * 1024
"""The longest schema text that is read, in characters."""
MAX_DEPTH = 64
"""Greatest depth of nested types: ``int[]`` has depth 1, ``Dict(str, int[])`` depth 2."""
MAX_BROADCAST = 64 * 1024
"""The longest list that a default such as ``float[3] x=1`` may stand for."""


class SchemaError(ValueError):
    """Text that PyTorch's schema parser refuses, or that is not understood here.

    message: one plain sentence. offset: where, in characters from the start of the text, starting at 0.
    hint: what to do about it, such as ``did you mean Tensor?``, or None. is_ours: PyTorch may well take the text.
    """

    def __init__(self, message: str, offset: int, hint: str | None = None, is_ours: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.hint = hint
        self.is_ours = is_ours


class PartError(ValueError):
    """A part of a schema that cannot be read, before its place is known; the message is one plain sentence."""


class NotUnderstood(PartError):
    """Such a part that PyTorch may well take."""


def shortened(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


_T = TypeVar("_T")
END = ""
"""The token after the last one."""
_LINE_BREAK = "\n"
"""A line break outside brackets, which no schema has before its end."""
KEYWORDS = frozenset(
    {
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "Ellipsis", "False", "for",
        "global", "if", "import", "in", "is", "None", "NoneType", "not", "or", "pass", "raise", "return", "True",
        "while", "with",
    }
)  # fmt: skip
"""Words that cannot be names."""
# a string is at most 250 characters long, so that the partner of a lone quote is not sought through all of the text
_TOKEN = re.compile(
    r"""
    [ \t\r\f\v]*
    (
      0[xX][0-9a-fA-F]+
      | (?: [0-9]+ \.? [0-9]* | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )?
      | [A-Za-z_][A-Za-z0-9_]*
      | " (?: [^"\\\n] | \\. ){0,250} " | ' (?: [^'\\\n] | \\. ){0,250} '
      | -> | \.\.\.
      | \Z
      | .
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_BLANKS = " \t\r\f\v\n"
_OPENING, _CLOSING = ("(", "["), (")", "]")


def is_name(token: str) -> bool:
    """True if *token* is a word that is no keyword."""
    return token.isidentifier() and token.isascii() and token not in KEYWORDS


def is_string(token: str) -> bool:
    return len(token) > 1 and token[0] in "\"'"


class Cursor:
    """One pass over the tokens. token: the current one. index: its number, which names a place for `fail`."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_LENGTH:
            raise SchemaError(f"the schema is longer than {MAX_LENGTH} characters", MAX_LENGTH)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise SchemaError("the schema has a character that is not valid Unicode text", error.start) from None
        self._text = text.rstrip(_BLANKS)
        # most schemas have one line: their places are needed for an error alone
        is_plain = _LINE_BREAK not in self._text
        self._tokens: list[str] = _TOKEN.findall(self._text) if is_plain else [match[1] for match in self._matches]
        self._brackets = 0
        self.index = 0
        self.token = self._tokens[0]

    @cached_property
    def _matches(self) -> list[re.Match[str]]:
        """The tokens with their places; END comes last. Line breaks in brackets say nothing."""
        matches: list[re.Match[str]] = []
        nesting = 0
        for match in _TOKEN.finditer(self._text):
            nesting += (match[1] in _OPENING) - (match[1] in _CLOSING)
            if match[1] != _LINE_BREAK or (nesting == 0 and matches):
                matches.append(match)
        return matches

    def fail(self, message: str, index: int | None = None, hint: str | None = None, is_ours: bool = False) -> NoReturn:
        """Refuse the text at the token with *index*, by default the current one. is_ours: as in `SchemaError`."""
        raise SchemaError(message, self._matches[self.index if index is None else index].start(1), hint, is_ours)

    def fail_to_find(self, what: str, hint: str | None = None) -> NoReturn:
        """Refuse the current token, in whose place *what* is expected."""
        token = self.token
        shown = "the end" if token == END else "a line break" if token == _LINE_BREAK else f"'{shortened(token)}'"
        self.fail(f"expected {what} but found {shown}", hint=hint)

    def finish(self, result: _T) -> _T:
        """Check that nothing is left, and return *result*."""
        if self.token != END:
            self.fail_to_find("the end")
        return result

    def advance(self) -> str:
        """Move to the next token and return the one left behind."""
        token = self.token
        self.index += 1
        self.token = self._tokens[self.index]
        return token

    def following(self) -> str:
        return self._tokens[self.index + 1]

    def printed_default(self) -> str:
        """Move to the comma or bracket behind a default that PyTorch has printed, and return its text.

        PyTorch prints strings without quotes where the argument is no string; one with a comma or a bracket is not
        understood.
        """
        start, depth = self.index, 0
        while self.token != END and (depth or self.token not in (",", ")")):
            depth += (self.token in _OPENING) - (self.token in _CLOSING)
            self.advance()
        if self.index == start + 1:
            return self._tokens[start]
        return self._text[self._matches[start].start(1) : self._matches[self.index - 1].end()]

    def next_if(self, token: str) -> bool:
        """Move on if the current token is *token*; say whether it was."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Move past *token*, which must be here."""
        if self.token != token:
            self.fail_to_find(f"'{token}'")
        self.advance()

    def name(self, what: str) -> str:
        if not is_name(self.token):
            hint = f"{self.token} is a keyword; choose another name" if self.token in KEYWORDS else None
            self.fail_to_find(what, hint)
        return self.advance()

    def number(self, what: str = "a number") -> str:
        if re.match(r"\.?[0-9]", self.token) is None:  # a sign is a token of its own
            self.fail_to_find(what)
        return self.advance()

    def bracketed(self, item: Callable[[], None]) -> None:
        """``(item, item)``, or nothing inside."""
        self.expect("(")
        self._brackets += 1
        if self._brackets > MAX_DEPTH:
            self.fail(f"brackets are nested more than {MAX_DEPTH} deep", self.index - 1)
        if self.token != ")":
            item()
            while self.next_if(","):
                item()
        self.expect(")")
        self._brackets -= 1
