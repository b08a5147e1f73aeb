"""Tokens of C++: the lexer, and what is in brackets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.sourcetext import (
    IN_QUOTES,
    IN_SINGLE_QUOTES,
    PREFIX,
    RAW,
    REST_OF_LINE,
    SourceText,
)
from dispatch_cli.extract.work import CHARACTERS
from dispatch_cli.model.conditions.condition import Condition
from dispatch_cli.model.span import Span

_PATTERN = re.compile(
    rf"(?P<blank>[ \t\n\f\v\r]+|\\\n|//{REST_OF_LINE}|/\*(?:.*?\*/|.*))"
    rf"|(?P<raw>{PREFIX}{RAW.format('delimiter')})"
    rf'|(?P<string>{PREFIX}"{IN_QUOTES}"(?:_\w+)?)'
    rf"|(?P<character>{PREFIX}'{IN_SINGLE_QUOTES}')"
    rf"|(?P<unclosed>{PREFIX}(?:\"{IN_QUOTES}|'{IN_SINGLE_QUOTES}))"
    r"|(?P<name>[A-Za-z_$@][\w$]*)"
    r"|(?P<number>\.?\d[\w.]*(?:(?<=[eEpP])[+-][\w.]*|'\w[\w.]*)*)"
    r"|(?P<mark>\.\.\.|->\*|<<=|>>=|<=>|::|->|##|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)",
    re.S,
)
_ESCAPE = re.compile(r"\\(.)", re.S)
_ESCAPES = {"n": "\n", "t": "\t", "\n": "", '"': '"', "'": "'", "\\": "\\"}
"""Escapes that schemas have; others stay as they are, so that a schema is refused."""
_QUOTED = re.compile(rf'{PREFIX}"(.*)"(?:_\w+)?', re.S)
Lookup = Callable[[str], "Sequence[CppToken] | None"]
"""Gives the tokens that a name stands for."""
_CLOSING = {"(": ")", "[": "]", "{": "}"}
MAX_ANGLE = 4000
"""Tokens between ``<`` and ``>`` of template arguments."""
MAX_LESS = 64
"""So many signs ``<`` that begin no template arguments are looked at in one list; the others are less-than."""
MAX_PARENTHESES = 64
"""Parentheses around one expression that are taken off."""


class CppToken(NamedTuple):
    """A token.

    kind: a group of the lexer: name, string, raw, character, number, mark, unclosed (a literal without its
    end: the rest of the line); ``placemarker`` for an empty argument.
    space: there are blanks before it. source, offset: where it is written; of one out of a macro, in the macro's body.
    use: where the outermost macro is used, of a token out of a macro. when: what has to hold for it.
    hide: the macros that do not expand it any more.
    """

    kind: str
    text: str
    space: bool
    source: SourceText
    offset: int
    when: tuple[Condition, ...] = ()
    use: tuple[SourceText, int] | None = None
    hide: frozenset[str] = frozenset()

    @property
    def at(self) -> Span:
        """Its place, that of the use of the outermost macro for one out of a macro."""
        source, offset = self.use or (self.source, self.offset)
        return source.span(offset)


def lex(source: SourceText, start: int, end: int, when: tuple[Condition, ...] = ()) -> Iterator[CppToken]:
    """The tokens of a part of a file, without blanks and comments."""
    space = False
    nothing: frozenset[str] = frozenset()
    for match in _PATTERN.finditer(source.text, start, end):
        kind = match.lastgroup
        assert kind is not None
        if kind == "blank":
            space = True
            continue
        yield CppToken(kind, match[0], space, source, match.start(), when, None, nothing)
        space = False


def tokens_of(text: str, name: str = "<built in>") -> list[CppToken]:
    """The tokens of a text that is not in a file."""
    return list(lex(SourceText(name, text), 0, len(text)))


def string_value(token: CppToken) -> str:
    """The value of a string literal."""
    text = token.text
    if token.kind == "raw":
        opening = text.index("(")
        delimiter = text[text.index('"') + 1 : opening]
        return text[opening + 1 :].removesuffix(f'){delimiter}"')
    match = _QUOTED.fullmatch(text)
    assert match is not None
    return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), match[1])


def weight(tokens: Sequence[CppToken]) -> int:
    """The units of work that a look at the tokens costs, with the characters of their texts."""
    return len(tokens) + sum(len(token.text) // CHARACTERS for token in tokens)


def spelled(tokens: list[CppToken] | tuple[CppToken, ...]) -> str:
    """The tokens as text, with single blanks where the source has blanks."""
    return "".join(" " + token.text if token.space and index else token.text for index, token in enumerate(tokens))


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


def outside(tokens: Sequence[CppToken]) -> Iterator[int]:
    """The indices of the tokens that are in no brackets, template arguments included; brackets are none of them."""
    depth = less = index = 0
    while index < len(tokens):
        token = tokens[index]
        if token.text == "<" and index and tokens[index - 1].kind == "name" and less < MAX_LESS:
            end = angle_end(tokens, index)
            if end is not None:
                index = end
                continue
            less += 1
        change = nesting(token)
        depth += change
        if depth == 0 and not change:
            yield index
        index += 1


def split(tokens: Sequence[CppToken], separator: str = ",") -> list[list[CppToken]]:
    """The parts between separators that are in no brackets; none of nothing."""
    return split_at(tokens, [index for index in outside(tokens) if tokens[index].text == separator]) if tokens else []


def split_at(tokens: Sequence[CppToken], places: Sequence[int]) -> list[list[CppToken]]:
    """The parts between the tokens at *places*."""
    return [list(tokens[start + 1 : end]) for start, end in pairwise((-1, *places, len(tokens)))]


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


class Call(NamedTuple):
    """A call ``scope::name<template>(arguments)``, or ``.name<template>(arguments)`` of a chain. tokens: all of it."""

    name: str
    template: Sequence[CppToken]
    arguments: Sequence[Sequence[CppToken]]
    tokens: Sequence[CppToken]
    scope: str = ""


NO_CALL = Call("", (), (), ())


def call_at(tokens: Sequence[CppToken], start: int = 0) -> Call:
    """The call that begins at an index; `NO_CALL` for something else."""
    index, name, scope = start, "", ""
    template: Sequence[CppToken] = ()
    while index < len(tokens):
        token = tokens[index]
        if token.kind == "name":
            scope, name, template = name, token.text, ()
        elif token.text == "<" and name:
            end = angle_end(tokens, index)
            if end is None:
                return NO_CALL
            template = tokens[index + 1 : end - 1]
            index = end
            continue
        elif token.text != "::":
            break
        index += 1
    if not name or index == len(tokens) or tokens[index].text not in ("(", "{"):
        return NO_CALL
    body, end = inside(tokens, index)
    return Call(name, template, split(body), tokens[start:end], scope)


def whole_call(tokens: Sequence[CppToken]) -> Call:
    """The call that all of an expression is; `NO_CALL` for something else."""
    call = call_at(tokens)
    return call if len(call.tokens) == len(tokens) else NO_CALL


def chain_calls(tokens: Sequence[CppToken]) -> list[Call] | None:
    """The calls of ``.a(...).b<c>(...)``; None for something else."""
    calls: list[Call] = []
    index = 0
    while index < len(tokens):
        call = call_at(tokens, index + 1)
        if tokens[index].text not in (".", "->") or call is NO_CALL:
            return None
        calls.append(call._replace(tokens=[tokens[index], *call.tokens]))
        index += 1 + len(call.tokens)
    return calls
