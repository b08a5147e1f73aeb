"""A C++ file with its directives, and the macros that they define."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.conditions import When
from dispatch_cli.extract.cpp.preprocessor.sourcetext import REST_OF_LINE, SourceText
from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, lex, spelled

_DIRECTIVE = re.compile(rf"(?<!\\\n)^[ \t]*(?:\\\n[ \t]*)*#[ \t]*(?:\\\n[ \t]*)*(\w*)({REST_OF_LINE})", re.M | re.S)
IFS = frozenset({"if", "ifdef", "ifndef"})
ENDS = frozenset({"elif", "elifdef", "elifndef", "else", "endif"})
_GUARDED = IFS | ENDS | {"define", "undef", "include", "include_next", "import"}
"""Directives that an include guard is around."""
_TARGET = re.compile(r'\s*(?:"([^"\n]*)"|<([^>\n]*)>)')
_NAME = re.compile(r"(?:\s|\\\n)*([A-Za-z_$][\w$]*)")


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
    closing = next((index for index, token in enumerate(tokens) if token.text == ")"), None)
    if closing is None:
        return None
    inner = tokens[2:closing]
    parameters = [token.text for token in inner if token.kind == "name"]
    variadic = bool(inner) and inner[-1].text == "..."
    if variadic and (len(inner) == 1 or inner[-2].kind != "name"):  # GNU: ``args...`` names what is left
        parameters.append("__VA_ARGS__")
    return Macro(name, tuple(parameters), variadic, tuple(tokens[closing + 1 :]))


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


class SourceFile(SourceText):
    """A file with its directives."""

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
        """The macro of the include guard, an ``#ifndef`` that goes on up to the end of the file."""
        directives = [directive for directive in self.directives if directive.kind in _GUARDED]
        if len(directives) < 3 or [directives[place].kind for place in (0, 1, -1)] != ["ifndef", "define", "endif"]:
            return None
        if self.blanked[directives[-1].end :].strip():
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
