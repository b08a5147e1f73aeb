"""A C++ file as the preprocessor sees it: directives, and text between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.macros import Macro, read_macro
from dispatch_cli.extract.cpp.preprocessor.tokens import REST_OF_LINE, CppToken, SourceText, lex

_DIRECTIVE = re.compile(rf"(?<!\\\n)^[ \t]*(?:\\\n[ \t]*)*#[ \t]*(?:\\\n[ \t]*)*(\w*)({REST_OF_LINE})", re.M | re.S)
_KNOWN = frozenset(
    {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "define", "undef"}
    | {"include", "include_next", "import"}
)
_TARGET = re.compile(r'\s*(?:"([^"\n]*)"|<([^>\n]*)>)')
_ONCE = re.compile(r"\s*once\b")
_NAME = re.compile(r"(?:\s|\\\n)*([A-Za-z_$][\w$]*)")


@dataclass(eq=False)
class Directive:
    """A line that begins with ``#``.

    kind: such as ``define``. start, end: the part of the text behind that word.
    """

    source: SourceText
    kind: str
    at: int
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


class Stretch(NamedTuple):
    """SourceText without directives."""

    start: int
    end: int


class SourceFile(NamedTuple):
    """A file. once: it is read once in a translation unit. guard: the macro of its include guard.

    directives: those among *items*.
    """

    text: SourceText
    items: tuple[Directive | Stretch, ...]
    directives: tuple[Directive, ...]
    once: bool
    guard: str | None


def source_file(name: str, content: str) -> SourceFile:
    """Take a file apart."""
    text = SourceText(name, content)
    items: list[Directive | Stretch] = []
    directives: list[Directive] = []
    once = False
    behind = 0
    hidden = "/*" in text.text or 'R"' in text.text  # only there can a line with '#' be no directive
    where = text.blanked if hidden else text.text
    for match in _DIRECTIVE.finditer(where) if "#" in where else ():
        if match[1] == "pragma":
            once = once or _ONCE.match(text.text, match.start(2)) is not None
        if match.start() > behind:
            items.append(Stretch(behind, match.start()))
        behind = match.end()
        if match[1] not in _KNOWN:
            continue
        directive = Directive(text, match[1], match.start(), match.start(2), match.end(2))
        items.append(directive)
        directives.append(directive)
    items.append(Stretch(behind, len(text.text)))
    guard = _guard(directives)
    return SourceFile(text, tuple(items), tuple(directives), once or guard is not None, guard)


def _guard(directives: list[Directive]) -> str | None:
    """The macro of the include guard, an ``#ifndef`` that goes on up to the last directive."""
    if len(directives) < 3 or [directives[place].kind for place in (0, 1, -1)] != ["ifndef", "define", "endif"]:
        return None
    depth = 0
    for directive in directives[:-1]:
        depth += directive.kind in ("if", "ifdef", "ifndef")
        depth -= directive.kind == "endif"
        if depth == 0 or (depth == 1 and directive.kind.startswith("el")):
            return None
    return directives[0].name if depth == 1 and directives[0].name == directives[1].name else None
