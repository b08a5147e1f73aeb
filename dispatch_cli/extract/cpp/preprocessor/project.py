"""The C++ files of a run: which of them can hold registrations, and the headers that those include."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from contextlib import suppress
from itertools import chain

from dispatch_cli.declarations.source import SourceError
from dispatch_cli.extract.cpp.preprocessor.macros import RESERVED
from dispatch_cli.extract.cpp.preprocessor.sourcefile import SourceFile
from dispatch_cli.extract.cpp.preprocessor.sourcetext import REST_OF_LINE, SourceText, normal
from dispatch_cli.extract.given_names import ExtensionNames
from dispatch_cli.extract.kinds import is_header
from dispatch_cli.extract.sources import Sources
from dispatch_cli.model.declarations import NotUnderstood
from dispatch_cli.model.sources.extracted import SourceKind
from dispatch_cli.model.span import Span

MAX_WRAPPERS = 2000
"""Macros of a project that may stand for a registration block."""
_SIGNS = ("_LIBRARY", "RegisterOperators", "Library&", "Library &")
_DEFINE = re.compile(rf"^[ \t]*#[ \t]*define[ \t]+(\w+)({REST_OF_LINE})", re.M | re.S)
_BLOCK = r"(?=[A-Z0-9_]*_LIBRARY(?:_|\b))[A-Z0-9_]+\s*\("
_BEGINS = rf"{_BLOCK}|RegisterOperators\b|(?:Stable)?Library\s*&"
_BEGINNING = re.compile(rf"\b(?:{_BEGINS})")
_WORD = re.compile(r"\b[A-Za-z_]\w*")
_REGISTERS = re.compile(r"\.\s*(?:impl|def|fallback|op)\s*\(|_LIBRARY|RegisterOperators")


class CppProject:
    """The C++ files of a run.

    mains: files that can hold registrations. Those that can only have functions that take a library come first, headers
    last. pattern: finds where a registration can begin.
    block_macros: macros whose bodies begin one.
    accounted: places of text that registers nothing, such as definitions of macros, or that is left out by ``#if``.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self.extension_names = ExtensionNames(sources)
        self.not_understood: list[NotUnderstood] = []
        self.accounted: set[tuple[str, int]] = set()
        self.was_read: dict[str, None] = {}
        self._headers: dict[str, SourceFile] = {}
        self._found: dict[tuple[str, str, bool], str | None] = {}
        self._may_begin: dict[str, bool] = {}
        self._texts: dict[str, str] = {}
        texts = {name: self._text(name) for name in sources.files.get(SourceKind.CPP, ())}
        self.block_macros = _block_macros(chain(texts.values(), self._texts_of_headers(texts)))
        macros = "|".join(map(re.escape, sorted(self.block_macros)))
        self.pattern = re.compile(rf"\b(?:{_BEGINS}|(?:{macros})\b)") if macros else _BEGINNING
        self._signs = (*_SIGNS, *self.block_macros)
        self._texts = {name: text for name, text in texts.items() if _may_begin(text) or self._uses_macros(text)}
        self.mains = sorted(self._texts, key=lambda name: (is_header(name), "TORCH_LIBRARY" in texts[name]))

    def included(self, target: tuple[str, bool], including: str) -> SourceFile | None:
        """The file that ``#include`` means; None where it is not among those of the run."""
        name, quoted = target
        at = (name, including.rpartition("/")[0] if quoted else "", quoted)
        if at not in self._found:
            self._found[at] = self.sources.find(name, including, quoted)
        path = self._found[at]
        return None if path is None else self.header(path)

    def file(self, name: str) -> SourceFile:
        """A file to extract from, which is not kept; empty where it cannot be read."""
        return self._headers.get(name) or SourceFile(name, self._text(name))

    def header(self, name: str) -> SourceFile:
        """An included file; empty where it cannot be read."""
        if name not in self._headers:
            self._headers[name] = self.file(name)
        return self._headers[name]

    def may_begin(self, file: SourceFile) -> bool:
        """True if a registration can begin in a file."""
        if file.name not in self._may_begin:
            signs = any(sign in file.text for sign in self._signs)
            self._may_begin[file.name] = signs and self.pattern.search(file.blanked) is not None
        return self._may_begin[file.name]

    def account(self, file: SourceText, start: int, end: int) -> None:
        """Note that a part of a file, which ``#if`` leaves out or which defines a macro, has been looked at."""
        for match in _REGISTERS.finditer(file.blanked, start, end):
            self.accounted.add((file.name, file.line(match.start())))

    def _text(self, name: str) -> str:
        if name in self._texts:
            return self._texts.pop(name)
        try:
            text = normal(self.sources.read(name))
        except SourceError as error:
            self.not_understood.append(NotUnderstood(Span(name, 1, 1), "", str(error)))
            return ""
        self.was_read[name] = None
        return text

    def _uses_macros(self, text: str) -> bool:
        return bool(self.block_macros) and not self.block_macros.isdisjoint(_WORD.findall(text))

    def _texts_of_headers(self, files: Container[str]) -> Iterator[str]:
        """The texts of the headers of the run that are not among *files*.

        A header may define the only macro by which a file registers that has no other sign of a registration.
        """
        for name in sorted(filter(is_header, self.sources.headers)):
            if name not in files:
                with suppress(SourceError):  # where the header is included, that is reported
                    yield normal(self.sources.read(name))


def _block_macros(texts: Iterable[str]) -> set[str]:
    """The macros whose bodies begin a registration, by the text, be it through other macros."""
    macros: set[str] = set()
    users: dict[str, list[str]] = {}
    waiting: list[str] = []
    for text in texts:
        for definition in _DEFINE.finditer(text) if "define" in text else ():
            macro, body = definition[1], definition[2]
            if macro in RESERVED:
                continue
            if _may_begin(f"{body.rstrip()}("):  # the name of a macro alone stands for it, too
                waiting.append(macro)
            for word in set(_WORD.findall(body)):
                users.setdefault(word, []).append(macro)
    while waiting and len(macros) <= MAX_WRAPPERS:
        macro = waiting.pop()
        if macro not in macros:
            macros.add(macro)
            waiting += users.get(macro, ())
    return macros


def _may_begin(text: str) -> bool:
    """True if a registration can begin in a text, by the names that PyTorch has for that."""
    return any(sign in text for sign in _SIGNS) and _BEGINNING.search(text) is not None
