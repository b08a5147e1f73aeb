"""A C++ file: its text, its directives, and what is looked up in it."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.conditions import When
from dispatch_cli.extract.cpp.preprocessor.tokens import REST_OF_LINE, CppToken, blanked, lex, normal, spelled
from dispatch_cli.model.span import Span

_DIRECTIVE = re.compile(rf"(?<!\\\n)^[ \t]*(?:\\\n[ \t]*)*#[ \t]*(?:\\\n[ \t]*)*(\w*)({REST_OF_LINE})", re.M | re.S)
IFS = frozenset({"if", "ifdef", "ifndef"})
ENDS = frozenset({"elif", "elifdef", "elifndef", "else", "endif"})
_GUARDED = IFS | ENDS | {"define", "undef", "include", "include_next", "import"}
"""Directives that an include guard is around."""
_TARGET = re.compile(r'\s*(?:"([^"\n]*)"|<([^>\n]*)>)')
_NAME = re.compile(r"(?:\s|\\\n)*([A-Za-z_$][\w$]*)")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=([^;{}]{1,200});|\btypedef\s+([^;{}]{1,200}?)\s*\b(\w+)\s*;")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BRACE = re.compile(r"[{}]")
_NOT_A_FUNCTION = re.compile(r"\b(?:namespace|class|struct|enum|union|extern)\b|=\s*\Z")
MAX_HEADER = 2000
"""Characters of the head of a function."""


class Macro(NamedTuple):
    """A macro.

    parameters: None for one without parentheses. variadic: the last parameter takes all that are left.
    when: the conditions under which it is defined so.
    """

    name: str
    parameters: tuple[str, ...] | None
    variadic: bool
    body: tuple[CppToken, ...]
    when: When = ()

    def same(self, other: Macro) -> bool:
        """True if both replace in the same way."""
        heads = [(macro.parameters, macro.variadic, spelled(macro.body)) for macro in (self, other)]
        return heads[0] == heads[1]


def read_macro(tokens: Sequence[CppToken]) -> Macro | None:
    """Read what is behind ``#define``; None where it is malformed."""
    if not tokens or tokens[0].kind != "name":
        return None
    name = tokens[0].text
    if len(tokens) < 2 or tokens[1].text != "(" or tokens[1].space:
        return Macro(name, None, False, tuple(tokens[1:]))
    parameters: list[str] = []
    variadic = False
    index = 2
    while index < len(tokens) and tokens[index].text != ")":
        token = tokens[index]
        if token.text == "...":
            if variadic or index + 1 == len(tokens) or tokens[index + 1].text != ")":
                return None
            variadic = True
            if tokens[index - 1].kind != "name":  # GNU: ``args...`` names what is left
                parameters.append("__VA_ARGS__")
        elif token.kind == "name":
            parameters.append(token.text)
        elif token.text != ",":
            return None
        index += 1
    if index == len(tokens):
        return None
    return Macro(name, tuple(parameters), variadic, tuple(tokens[index + 1 :]))


@dataclass(eq=False)
class Directive:
    """A line that begins with ``#``; the last one of a file, of no kind, is at its end.

    before: start of the text before it, which has no directives. kind: such as ``define``. start, end: what is behind
    that word.
    """

    source: SourceFile
    before: int
    at: int
    kind: str
    start: int
    end: int

    @cached_property
    def name(self) -> str:
        """The macro that it defines or asks for; empty where it is malformed."""
        match = _NAME.match(self.source.text, self.start, self.end)
        return match[1] if match else ""

    @cached_property
    def target(self) -> tuple[str, bool] | None:
        """The file that an ``#include`` names, and true for one in quotes; None where a macro says it."""
        match = _TARGET.match(self.source.text, self.start, self.end)
        return (match[1] or match[2] or "", match[1] is not None) if match else None

    @cached_property
    def tokens(self) -> list[CppToken]:
        """Tokens behind the word of the directive."""
        return list(lex(self.source, self.start, self.end))

    @cached_property
    def macro(self) -> Macro | None:
        """Macro that a ``#define`` defines; None where it is malformed."""
        return read_macro(self.tokens)


class SourceFile:
    """A file, with ``\\n`` at the ends of its lines. What is looked up in it is searched once, for all names."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = normal(text)

    @cached_property
    def blanked(self) -> str:
        """The text with blanks in place of comments and literals; a newline inside a comment is spliced."""
        return blanked(self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The line, from 1, of a character."""
        return bisect_right(self._starts, offset)

    def span(self, offset: int) -> Span:
        """The place of a character."""
        line = self.line(offset)
        return Span(self.name, line, offset - self._starts[line - 1] + 1)

    @cached_property
    def directives(self) -> Sequence[Directive]:
        """The directives in order, and at last the end of the file."""
        hidden = "/*" in self.text or 'R"' in self.text  # only there can a line with '#' be no directive
        where = self.blanked if hidden else self.text
        directives: list[Directive] = []
        behind = 0
        for match in _DIRECTIVE.finditer(where) if "#" in where else ():
            directives.append(Directive(self, behind, match.start(), match[1], match.start(2), match.end()))
            behind = match.end()
        return [*directives, Directive(self, behind, len(self.text), "", len(self.text), len(self.text))]

    @cached_property
    def guard(self) -> str | None:
        """The macro of the include guard, an ``#ifndef`` that goes on up to the last directive."""
        directives = [directive for directive in self.directives if directive.kind in _GUARDED]
        if len(directives) < 3 or [directives[place].kind for place in (0, 1, -1)] != ["ifndef", "define", "endif"]:
            return None
        depth = 0
        for directive in directives[:-1]:
            depth += (directive.kind in IFS) - (directive.kind == "endif")
            if depth == 0 or (depth == 1 and directive.kind.startswith("el")):
                return None
        return directives[0].name if depth == 1 and directives[0].name == directives[1].name else None

    @cached_property
    def once(self) -> bool:
        """True if it is read once in a translation unit."""
        pragmas = (directive.name for directive in self.directives if directive.kind == "pragma")
        return "once" in pragmas or self.guard is not None

    @cached_property
    def aliases(self) -> Mapping[str, tuple[int, int]]:
        """The types that ``using NAME = TYPE;`` and ``typedef TYPE NAME;`` give names."""
        aliases: dict[str, tuple[int, int]] = {}
        for match in _ALIAS.finditer(self.blanked):
            aliases.setdefault(match[1] or match[4], match.span(2 if match[1] else 3))
        return aliases

    @cached_property
    def calls(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The places of names before a ``(``, with that."""
        calls: dict[str, list[tuple[int, int]]] = {}
        for match in _CALL.finditer(self.blanked):
            calls.setdefault(match[1], []).append(match.span())
        return calls

    def function_end(self, offset: int) -> int | None:
        """The end of the function in whose body a place is; None outside of functions."""
        index = bisect_left(self._bodies, (offset, 0)) - 1
        end = self._bodies[index][1] if index >= 0 else 0
        return end if offset < end else None

    @cached_property
    def _bodies(self) -> Sequence[tuple[int, int]]:
        """The places of the braces around each function that is in no other one."""
        return list(_function_bodies(self.blanked))


def _function_bodies(text: str) -> Iterator[tuple[int, int]]:
    depth, outside, opening = 0, -1, 0
    for match in _BRACE.finditer(text):
        if match[0] == "{":
            if outside < 0 and _begins_function(text, match.start()):
                outside, opening = depth, match.start()
            depth += 1
        elif depth > 0:
            depth -= 1
            if depth == outside:
                yield opening, match.start()
                outside = -1
    if outside >= 0:
        yield opening, len(text)


def _begins_function(text: str, brace: int) -> bool:
    begin = max(brace - MAX_HEADER, 0)
    start = max(begin - 1, *(text.rfind(mark, begin, brace) for mark in ";{}#"))
    header = text[start + 1 : brace]
    return _CALL.search(header) is not None and _NOT_A_FUNCTION.search(header) is None


def tokens_of(text: str, name: str = "<built in>") -> list[CppToken]:
    """The tokens of a text that is not in a file."""
    return list(lex(SourceFile(name, text), 0, len(text)))
