"""Walking over the tokens of a schema, and refusing it at one of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NoReturn, TypeVar

from dispatch_cli.model.schema.error import MAX_DEPTH, MAX_LENGTH, SchemaError, shortened
from dispatch_cli.model.schema.lexer import (
    END,
    KEYWORDS,
    LINE_BREAK,
    Lexeme,
    is_name,
    is_number,
    is_token,
    kind_of,
    scan,
    tokenize,
)
from dispatch_cli.model.schema.refusal import Theirs, expected, lexer_refusal, plain, refusal

_T = TypeVar("_T")
_PARTNERS = {")": "(", "]": "[", "}": "{"}


def shown(token: str) -> str:
    """*token* as a message names it."""
    if token == END:
        return "the end"
    if token.startswith(LINE_BREAK):
        return "a line break"
    return f"'{shortened(token)}'"


class Cursor:
    """One pass over the tokens. token: the current one. index: its number, which names a place for `fail`.

    comments: whether there can be any; PyTorch prints none, but strings without quotes.
    """

    def __init__(self, text: str, *, comments: bool = True) -> None:
        _check_text(text)
        self._text = text
        self._comments = comments
        self._tokens = tokenize(text) if comments else [lexeme.token for lexeme in self._lexemes]
        self._brackets = 0
        self._seen = 0
        self.index = 0
        self.token = self._tokens[0]

    @cached_property
    def _lexemes(self) -> list[Lexeme]:
        return scan(self._text, comments=self._comments)

    def fail(self, message: str, theirs: Theirs | None, index: int | None = None, hint: str | None = None) -> NoReturn:
        """Refuse the text at the token with *index*, by default the current one.

        theirs: how PyTorch refuses it; None where PyTorch would go on.
        """
        lexemes = self._lexemes
        place = min(self.index if index is None else index, len(lexemes) - 1)
        # PyTorch reads a token when it leaves the one before, and stumbles over one that is none before all else.
        seen = range(self.index, min(max(self.index, self._seen), len(lexemes) - 1) + 1)
        bad = next((number for number in seen if not is_token(lexemes[number].token)), None)
        raised = None if theirs is None else refusal(self._text, lexemes, self.index, theirs)
        if bad is not None:
            raised = lexer_refusal(self._text, lexemes, bad)
        is_break = lexemes[place].token.startswith("\n") and place > 0
        raise SchemaError(message, lexemes[place - 1].end if is_break else lexemes[place].start, hint, raised)

    def fail_to_find(self, what: str, kind: str, hint: str | None = None) -> NoReturn:
        """Refuse the current token, in whose place *what* is expected; *kind* is PyTorch's word for that."""
        self.fail(f"expected {what} but found {shown(self.token)}", expected(kind), hint=hint)

    def finish(self, result: _T) -> _T:
        """Check that nothing is left but one line break, and return *result*."""
        self.next_if(LINE_BREAK)
        if self.token != END:
            self.fail_to_find("the end", "eof")
        return result

    def only_name_found(self) -> NoReturn:
        """There was an operator name, but no arguments."""
        self.next_if(LINE_BREAK)
        theirs = expected("eof")
        if self.token == END:
            theirs = plain("Tried to parse a function schema but only the operator name was given")
        self.fail(f"expected '(' but found {shown(self.token)}", theirs)

    def advance(self) -> str:
        """Move to the next token and return the one left behind."""
        token = self.token
        self.index += 1
        self.token = self._tokens[self.index]
        return token

    def following(self) -> str:
        """The token after the current one."""
        self._seen = self.index + 1
        return self._tokens[self.index + 1]

    def printed_default(self) -> str:
        """Move to the comma or bracket behind a default that PyTorch has printed, and return its text."""
        start = self._lexemes[self.index - 1].end
        while self.token != END and self.index not in self._ends_of_defaults:
            self.advance()
        return self._text[start : self._lexemes[min(self.index, len(self._lexemes) - 1)].start]

    @cached_property
    def _ends_of_defaults(self) -> frozenset[int]:
        """Tokens, by number, where a default can end: before the returns, and at commas before a further argument.

        PyTorch prints strings without quotes where the argument is no string. A comma in one is taken for what it is
        where no type can follow, and a bracket encloses commas only if it has a partner.
        """
        lexemes, text = self._lexemes, self._text
        ends = (i for i, lexeme in enumerate(lexemes) if lexeme.token == ")" and text.startswith(") -> ", lexeme.start))
        end = next(ends, len(lexemes))
        opened: list[tuple[str, int]] = []
        commas: list[int] = []
        for number in range(self.index, end):
            token = self._tokens[number]
            if token == ",":
                first, second = (*self._tokens[number + 1 : number + 3], END)[:2]
                is_type = first in ("*", "(") or (is_name(first) and second not in (",", ")", END))
                if is_type and text.startswith(", ", lexemes[number].start):
                    commas.append(number)
            elif token in _PARTNERS.values():
                opened.append((token, len(commas)))
            elif opened and opened[-1][0] == _PARTNERS.get(token):
                del commas[opened.pop()[1] :]
        return frozenset([*commas, end])

    def next_if(self, token: str) -> bool:
        """Move on if the current token is *token*; say whether it was."""
        if self.token != token:
            return False
        self.advance()
        return True

    def expect(self, token: str) -> None:
        """Move past *token*, which must be here."""
        if self.token != token:
            self.fail_to_find(f"'{token}'", kind_of(token))
        self.advance()

    def name(self, what: str) -> str:
        """Move past a name and return it."""
        if not is_name(self.token):
            hint = f"{self.token} is a keyword; choose another name" if self.token in KEYWORDS else None
            self.fail_to_find(what, "ident", hint)
        return self.advance()

    def number(self, what: str = "a number") -> str:
        """Move past a number and return it."""
        if not is_number(self.token):
            self.fail_to_find(what, "number")
        return self.advance()

    def open_bracket(self) -> None:
        """Move past ``(``."""
        self.expect("(")
        self._brackets += 1
        if self._brackets > MAX_DEPTH:
            self.fail(f"brackets are nested more than {MAX_DEPTH} deep", None, self.index - 1)

    def close_bracket(self) -> None:
        """Move past ``)``."""
        self.expect(")")
        self._brackets -= 1

    def bracketed(self, item: Callable[[], None]) -> None:
        """``(item, item)``, or nothing inside."""
        self.open_bracket()
        if self.token != ")":
            item()
            while self.next_if(","):
                item()
        self.close_bracket()


def _check_text(text: str) -> None:
    if len(text) > MAX_LENGTH:
        raise SchemaError(f"the schema is longer than {MAX_LENGTH} characters", MAX_LENGTH)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise SchemaError("the schema has a character that is not valid Unicode text", error.start) from None
