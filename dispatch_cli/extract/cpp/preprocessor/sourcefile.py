"""A C++ file as the preprocessor sees it: directives, and text between them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.macros import Macro, read_macro
from dispatch_cli.extract.cpp.preprocessor.tokens import REST_OF_LINE, CppToken, SourceText, lex

_DIRECTIVE = re.compile(rf"(?<!\\\n)^[ \t]*(?:\\\n[ \t]*)*#[ \t]*(?:\\\n[ \t]*)*(\w*)({REST_OF_LINE})", re.M | re.S)
_KNOWN = frozenset(
    {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "define", "undef"}
    | {"include", "include_next", "import"}
)
_BEGINS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else"})
_ENDS = frozenset({"elif", "elifdef", "elifndef", "else", "endif"})
_TARGET = re.compile(r'\s*(?:"([^"\n]*)"|<([^>\n]*)>)')
_ONCE = re.compile(r"\s*once\b")
_NAME = re.compile(r"(?:\s|\\\n)*([A-Za-z_$][\w$]*)")


@dataclass(slots=True, eq=False)
class Directive:
    """A line that begins with ``#``.

    kind: such as ``define``. start, end: the part of the text behind that word. branch: of ``#if`` and ``#else``, the
    number of the directive that ends the branch.
    """

    source: SourceText
    kind: str
    at: int
    start: int
    end: int
    name: str = ""
    target: tuple[str, bool] | None = None
    branch: int = 0
    _macro: Macro | None = None
    _tokens: list[CppToken] | None = None

    def __post_init__(self) -> None:
        if self.kind in ("define", "undef", "ifdef", "ifndef", "elifdef", "elifndef"):
            match = _NAME.match(self.source.text, self.start, self.end)
            self.name = match[1] if match else ""
        elif self.kind in ("include", "include_next", "import"):
            target = _TARGET.match(self.source.text, self.start, self.end)
            if target:
                self.target = (target[1] or target[2] or "", target[1] is not None)

    @property
    def tokens(self) -> list[CppToken]:
        """Tokens behind the word of the directive."""
        if self._tokens is None:
            self._tokens = list(lex(self.source, self.start, self.end))
        return self._tokens

    @property
    def macro(self) -> Macro | None:
        """Macro that a ``#define`` defines; None where it is malformed."""
        if self._macro is None:
            self._macro = read_macro(self.tokens)
        return self._macro


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
    _match_branches(directives)
    guard = _guard(directives)
    return SourceFile(text, tuple(items), tuple(directives), once or guard is not None, guard)


def _match_branches(directives: list[Directive]) -> None:
    begun: list[Directive] = []
    for index, directive in enumerate(directives):
        if directive.kind in _ENDS and begun:
            begun.pop().branch = index
        if directive.kind in _BEGINS:
            begun.append(directive)


def _guard(directives: list[Directive]) -> str | None:
    """The macro of the include guard, an ``#ifndef`` that goes on up to the last directive."""
    if len(directives) < 3:
        return None
    first, second, last = directives[0], directives[1], directives[-1]
    is_guard = first.kind == "ifndef" and second.kind == "define" and first.name == second.name
    ends_last = first.branch == len(directives) - 1 and last.kind == "endif"
    return first.name if is_guard and ends_last else None
