"""Walking over the tokens of a schema, and refusing it at one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from dispatch_cli.model.schema_error import MAX_DEPTH, MAX_LENGTH, SchemaError, shortened
from dispatch_cli.model.schema_lexer import END, INDENTATION, KEYWORDS, LINE_BREAK, offset_of, tokenize

_T = TypeVar("_T")


def shown(token: str) -> str:
    """*token* as a message names it."""
    if token == END:
        return "the end"
    if token in (LINE_BREAK, INDENTATION):
        return "a line break"
    return f"'{shortened(token)}'"


def is_name(token: str) -> bool:
    """Whether *token* is a word that is no keyword."""
    return token.isidentifier() and token.isascii() and token not in KEYWORDS


def is_number(token: str) -> bool:
    """Whether *token* is a number; a sign is a token of its own."""
    return token.isascii() and (token[:1].isdigit() or (token[:1] == "." and token[1:2].isdigit()))


def is_string(token: str) -> bool:
    """Whether *token* is a string literal."""
    return len(token) > 1 and token[0] in "\"'"


class Cursor:
    """One pass over the tokens. token: the current one. index: its number, which names a place for `fail`."""

    def __init__(self, text: str) -> None:
        _check_text(text)
        self._text = text
        self._tokens = tokenize(text)
        self._brackets = 0
        self.index = 0
        self.token = self._tokens[0]

    def fail(self, message: str, index: int | None = None, hint: str | None = None) -> NoReturn:
        """Refuse the text at the token with *index*, by default the current one."""
        raise SchemaError(message, offset_of(self._text, self.index if index is None else index), hint)

    def finish(self, result: _T) -> _T:
        """Check that nothing is left but one line break, and return *result*."""
        self.next_if(LINE_BREAK)
        if self.token != END:
            self.fail(f"expected the end but found {shown(self.token)}")
        return result

    def only_name_found(self) -> NoReturn:
        """There was an operator name, but no arguments."""
        self.next_if(LINE_BREAK)
        self.fail(f"expected '(' but found {shown(self.token)}")

    def advance(self) -> str:
        """Move to the next token and return the one left behind."""
        token = self.token
        self.index += 1
        self.token = self._tokens[self.index]
        return token

    def following(self) -> str:
        """The token after the current one."""
        return self._tokens[self.index + 1]

    def next_if(self, token: str) -> bool:
        """Move on if the current token is *token*; say whether it was."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Move past *token*, which must be here."""
        if self.token != token:
            self.fail(f"expected '{token}' but found {shown(self.token)}")
        self.advance()

    def name(self, what: str) -> str:
        """Move past a name and return it."""
        if not is_name(self.token):
            hint = f"{self.token} is a keyword; choose another name" if self.token in KEYWORDS else None
            self.fail(f"expected {what} but found {shown(self.token)}", hint=hint)
        return self.advance()

    def number(self, what: str = "a number") -> str:
        """Move past a number and return it."""
        if not is_number(self.token):
            self.fail(f"expected {what} but found {shown(self.token)}")
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


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise SchemaError(f"the schema is longer than {MAX_LENGTH} characters", MAX_LENGTH)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError("the schema has a character that is not valid Unicode text", error.start) from None
