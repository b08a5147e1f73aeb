"""Splitting schema text into tokens, as PyTorch's ``torch/csrc/jit/frontend/lexer.h`` does.

The lexer is the one of TorchScript: it knows Python's keywords, comments, indentation and string literals, which is why
an argument cannot be called ``in`` and why a line break after the last return is allowed.
"""

from __future__ import annotations

import re
from typing import NamedTuple

END = ""
"""The token after the last one."""

LINE_BREAK = "\n"
"""A line break outside brackets that leaves the indentation alone."""

INDENTATION = "\n "
"""A line break before a line that is indented further."""

DEDENTATION = "\n<"
"""A line break before a line that is indented less than the first, which no text may have."""

KEYWORDS = frozenset(
    {
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "Ellipsis", "False", "for",
        "global", "if", "import", "in", "is", "None", "NoneType", "not", "or", "pass", "raise", "return", "True",
        "while", "with",
    }
)  # fmt: skip
"""Words that cannot be names."""

MAX_LONE_QUOTES = 16
"""Quotes without a partner after which a text may end early: each could be looked for through all of the text."""

_KINDS = {
    END: "eof", LINE_BREAK: "newline", INDENTATION: "indent", "!=": "ne", "==": "eq", "<=": "le", ">=": "ge",
    "<=>": "equivalent", "//": "floordiv", "**": "pow operator", "->": "arrow", "...": "dots",
    "# type:": "type comment",
}  # fmt: skip
_SINGLE = frozenset("+-*/%@()[]:,={}><.?!&^|~")

_TOKEN = re.compile(
    r"""
    [ \t\r\f\v]*
    (
      (?: 0[xX] (?: [0-9a-fA-F]+ \.? [0-9a-fA-F]* | \.[0-9a-fA-F]+ ) (?: [pP][+-]?[0-9]+ )?
        | (?: [0-9]+ \.? [0-9]* | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? ) j?
      | is\ not | not\ in
      | [A-Za-z_][A-Za-z0-9_]*
      | \"{3} (?: [^\\] | \\. )*? \"{3} | '{3} (?: [^\\] | \\. )*? '{3}
      | (?!\"{3}) \" (?: [^"\\\n] | \\. )* \" | (?!'{3}) ' (?: [^'\\\n] | \\. )* '
      | -> | \.\.\. | \*\*= | <<= | >>= | <=> | [!=<>+\-*/%|&^]= | // | << | >> | \*\*
      | \\\n
      | \#\ type: | \#[^\n]*
      | \Z
      | .
    )
    """,
    re.VERBOSE | re.DOTALL,
)
# Text with none of these needs no second look at line breaks, comments and continued lines.
_SPECIAL = re.compile(r"[\n#\\]")
_BLANK_LINES = re.compile(r"(?: [ \t\r\f\v]* (?: \#(?!\ type:)[^\n]* )? \n )* [ \t\r\f\v]*", re.VERBOSE)
_COMMENT = re.compile(r"\#(?!\ type:)[^\n]*")


class Lexeme(NamedTuple):
    """A token with its place. start, end: in characters; those of a line break are the indentation behind it."""

    token: str
    start: int
    end: int


def tokenize(text: str) -> list[str]:
    """The tokens of *text*; END comes last. What is no token at all is a token of one character.

    Too many quotes without a partner may end the list early.
    """
    if _SPECIAL.search(text) is None:
        return _TOKEN.findall(text)
    return [lexeme.token for lexeme in scan(text)]


def is_name(token: str) -> bool:
    """True if *token* is a word that is no keyword."""
    return token.isidentifier() and token.isascii() and token not in KEYWORDS


def is_number(token: str) -> bool:
    """True if *token* is a number; a sign is a token of its own."""
    return token.isascii() and (token[:1].isdigit() or (token[:1] == "." and token[1:2].isdigit()))


def is_string(token: str) -> bool:
    """True if *token* is a string literal."""
    return len(token) > 1 and token[0] in "\"'"


def is_token(token: str) -> bool:
    """True if PyTorch's lexer knows *token*, be it of use in a schema or not."""
    if len(token) != 1:
        return token != DEDENTATION
    return token in _SINGLE or token == LINE_BREAK or (token.isascii() and (token.isalnum() or token == "_"))


def kind_of(token: str) -> str:
    """Word for *token* in PyTorch's messages (``kindToString``)."""
    if is_string(token):
        return "string_literal"
    if is_number(token):
        return "number"
    return "ident" if is_name(token) else _KINDS.get(token, token)


def scan(text: str, *, comments: bool = True) -> list[Lexeme]:
    """The tokens of *text* with their places. comments: False takes ``#`` for a token."""
    lexemes: list[Lexeme] = []
    start, position = indentation(text, 0)
    first_depth = position - start
    nesting = lone_quotes = 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None, "the pattern matches anything"
        token = match[1]
        lexeme = Lexeme(token, match.start(1), match.end())
        position = match.end()
        if not comments and token.startswith("#"):
            token = "#"
            lexeme = Lexeme(token, lexeme.start, lexeme.start + 1)
            position = lexeme.end
        # PyTorch counts brackets in an unsigned number: one that closes too much leaves it above zero.
        if token == "\n" and nesting == 0:
            start, position = indentation(text, position)
            depth = first_depth if position == len(text) else position - start
            kind = LINE_BREAK if depth == first_depth else INDENTATION if depth > first_depth else DEDENTATION
            lexeme = Lexeme(kind, start, position)
        elif token == "\n" or token == "\\\n" or (comments and token.startswith("#") and token != "# type:"):
            continue
        lexemes.append(lexeme)
        nesting += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
        if lexeme.token == END:
            return lexemes
        lone_quotes += token in ('"', "'")
        if lone_quotes > MAX_LONE_QUOTES:
            return [*lexemes, Lexeme(END, lexeme.end, lexeme.end)]


def indentation(text: str, position: int) -> tuple[int, int]:
    """Skip empty lines and comments; return where the last line starts, and its first token or the end of the text."""
    match = _BLANK_LINES.match(text, position)
    assert match is not None, "the pattern matches the empty string"
    end = match.end()
    comment = _COMMENT.match(text, end)
    if comment is not None:
        return comment.end(), comment.end()
    return text.rfind("\n", position, end) + 1 or position, end
