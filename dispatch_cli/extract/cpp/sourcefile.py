"""A C++ file as the preprocessor sees it: directives, and text between them."""

from __future__ import annotations

import re
from typing import NamedTuple

from dispatch_cli.extract.cpp.macros import Macro, read_macro
from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex

_DIRECTIVE = re.compile(r"^[ \t]*(?:\\\n[ \t]*)*#[ \t]*(\w*)((?:[^\n\\]|\\.)*)", re.M | re.S)
_KNOWN = frozenset(
    {"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "define", "undef"}
    | {"include", "include_next", "import", "error", "pragma"}
)
_TARGET = re.compile(r'\s*(?:"([^"\n]*)"|<([^>\n]*)>)')
_ONCE = re.compile(r"\s*once\b")
_NAME = re.compile(r"(?:\s|\\\n)*([A-Za-z_$][\w$]*)")


class Directive:
    """A line that begins with ``#``. kind: ``define``; start, end: the part of the text behind that word."""

    __slots__ = ("_macro", "_tokens", "at", "end", "kind", "name", "source", "start", "target")

    def __init__(self, source: SourceText, kind: str, at: int, start: int, end: int) -> None:
        self.source, self.kind, self.at, self.start, self.end = source, kind, at, start, end
        self._macro: Macro | None = None
        self._tokens: list[CppToken] | None = None
        self.name = ""
        self.target: tuple[str, bool] | None = None
        if kind in ("define", "undef", "ifdef", "ifndef", "elifdef", "elifndef"):
            found = _NAME.match(source.text, start, end)
            self.name = found[1] if found else ""
        elif kind in ("include", "include_next", "import"):
            target = _TARGET.match(source.text, start, end)
            if target:
                self.target = (target[1] or target[2] or "", target[1] is not None)

    @property
    def tokens(self) -> list[CppToken]:
        """What is behind the word."""
        if self._tokens is None:
            self._tokens = list(lex(self.source, self.start, self.end))
        return self._tokens

    @property
    def macro(self) -> Macro | None:
        """What a ``#define`` defines; None where it is malformed."""
        if self._macro is None:
            self._macro = read_macro(self.tokens)
        return self._macro


class Stretch(NamedTuple):
    """SourceText without directives."""

    start: int
    end: int


class SourceFile(NamedTuple):
    """A file. once: it is read once in a translation unit. guard: the macro of its include guard."""

    text: SourceText
    items: tuple[Directive | Stretch, ...]
    once: bool
    guard: str | None


def source_file(name: str, content: str) -> SourceFile:
    """Take a file apart."""
    text = SourceText(name, content)
    items: list[Directive | Stretch] = []
    once = False
    behind = 0
    for found in _DIRECTIVE.finditer(text.blanked) if "#" in text.blanked else ():
        if text.blanked[behind : found.start()].strip(" \n\\"):
            items.append(Stretch(behind, found.start()))
        behind = found.end()
        if found[1] in _KNOWN:
            directive = Directive(text, found[1], found.start(), found.start(2), found.end(2))
            once = once or (found[1] == "pragma" and _ONCE.match(text.text, directive.start) is not None)
            items.append(directive)
    if text.blanked[behind:].strip(" \n\\"):
        items.append(Stretch(behind, len(text.text)))
    guard = _guard(items)
    return SourceFile(text, tuple(items), once or guard is not None, guard)


def _guard(items: list[Directive | Stretch]) -> str | None:
    """The macro of the include guard around the whole file."""
    directives = [item for item in items if not (isinstance(item, Directive) and item.kind == "pragma")]
    if len(directives) < 3:
        return None
    first, second, last = directives[0], directives[1], directives[-1]
    if not (isinstance(first, Directive) and isinstance(second, Directive) and isinstance(last, Directive)):
        return None
    if not (first.kind == "ifndef" and second.kind == "define" and first.name == second.name and last.kind == "endif"):
        return None
    depth = 0
    for item in directives[:-1]:
        if isinstance(item, Directive):
            depth += item.kind in ("if", "ifdef", "ifndef")
            depth -= item.kind == "endif"
            if depth == 0 or (depth == 1 and item.kind.startswith("el")):
                return None
    return first.name if depth == 1 else None
