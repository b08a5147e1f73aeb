"""Splitting schema text into tokens, as PyTorch's ``torch/csrc/jit/frontend/lexer.h`` does.

The lexer is the one of TorchScript: it knows Python's keywords, comments, indentation and string literals, which is why
an argument cannot be called ``in`` and why a line break after the last return is allowed.
"""

from __future__ import annotations

import re

END = ""
"""The token after the last one."""

LINE_BREAK = "\n"
"""A line break outside brackets that leaves the indentation alone; INDENTATION is one that changes it."""

INDENTATION = "\n "

KEYWORDS = frozenset(
    {
        "and", "as", "assert", "break", "class", "continue", "def", "del", "elif", "else", "Ellipsis", "False", "for",
        "global", "if", "import", "in", "is", "None", "NoneType", "not", "or", "pass", "raise", "return", "True",
        "while", "with",
    }
)  # fmt: skip
"""Words that cannot be names."""

_TOKEN = re.compile(
    r"""
    [ \t\r\f\v]*
    (
      (?: 0[xX] (?: [0-9a-fA-F]+ \.? [0-9a-fA-F]* | \.[0-9a-fA-F]+ ) (?: [pP][+-]?[0-9]+ )?
        | (?: [0-9]+ \.? [0-9]* | \.[0-9]+ ) (?: [eE][+-]?[0-9]+ )? ) j?
      | [A-Za-z_][A-Za-z0-9_]*
      | \"{3} (?: [^\\] | \\. )*? \"{3} | '{3} (?: [^\\] | \\. )*? '{3}
      | (?!\"{3}) \" (?: [^"\\\n] | \\. )* \" | (?!'{3}) ' (?: [^'\\\n] | \\. )* '
      | -> | \.\.\. | \*\*= | <<= | >>= | <=> | [!=<>+\-*/%|&^]= | // | << | >> | \*\*
      | \\\n
      | \#(?!\ type:)[^\n]*
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


def tokenize(text: str) -> list[str]:
    """The tokens of *text*; END comes last. What is no token at all is a token of one character.

    A quote without its partner may end the list early.
    """
    if _SPECIAL.search(text) is None:
        return _TOKEN.findall(text)
    return [token for token, _ in _scan(text)]


def offset_of(text: str, index: int) -> int:
    """Where the token at *index* starts, in characters."""
    tokens = _scan(text)
    return tokens[min(index, len(tokens) - 1)][1]


def _scan(text: str) -> list[tuple[str, int]]:
    """Tokens with their offsets."""
    found: list[tuple[str, int]] = []
    position, indent = _blank_lines(text, 0)
    nesting = 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None, "the pattern matches anything"
        token = match[1]
        position = match.end()
        if token == "\n" and nesting <= 0:
            start = match.start(1)
            position, depth = _blank_lines(text, position)
            at_end = position == len(text)
            found.append((LINE_BREAK if at_end or depth == indent else INDENTATION, start))
        elif token.startswith(("#", "\\\n")) or token == "\n":
            continue
        else:
            found.append((token, match.start(1)))
            nesting += (token in ("(", "[", "{")) - (token in (")", "]", "}"))
            if token == END:
                return found
            if token in ('"', "'"):
                # A string without an end: no text goes on from here, and looking for more could take long.
                return [*found, (END, position)]


def _blank_lines(text: str, position: int) -> tuple[int, int]:
    """Skip empty lines and comments; return where the next token starts and how far its line is indented."""
    match = _BLANK_LINES.match(text, position)
    assert match is not None, "the pattern matches the empty string"
    end = match.end()
    depth = end - (text.rfind("\n", position, end) + 1 if "\n" in text[position:end] else position)
    comment = _COMMENT.match(text, end)
    return (comment.end() if comment else end), depth
