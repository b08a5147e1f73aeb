"""Declarations in the files of a translation unit outside of its blocks: constants and functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from dispatch_cli.extract.cpp.signatures import signature_of
from dispatch_cli.extract.cpp.simple import LOOKUP, LibraryFunction
from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex, weight
from dispatch_cli.extract.cpp.unit import TranslationUnit

_VALUE = re.compile(r"\b([A-Za-z_]\w*)\s*(?:\[[^\]\n]{0,200}\]\s*)?([={])")
_CONSTANT = re.compile(r"\b(?:const|constexpr|static|inline)\b[^;{}()=]{0,200}\Z")
MAX_BEFORE = 210
"""Characters before the name of a constant that are looked at."""
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=([^;{}]{1,200});|\btypedef\s+([^;{}]{1,200}?)\s*\b(\w+)\s*;")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")


class DeclaredNames:
    """The names that one text declares."""

    def __init__(self, text: SourceText) -> None:
        self._text = text

    def constant(self, name: str) -> Sequence[CppToken] | None:
        """The value of a constant."""
        start = self._constants.get(name)
        if start is None:
            return None
        text = self._text
        end = text.blanked.find(";", start)
        tokens = list(lex(text, start, end if end >= 0 else len(text.text)))
        return tokens[1:] if tokens and tokens[0].text == "=" else tokens

    def alias(self, name: str) -> Sequence[CppToken] | None:
        """The type that ``using NAME = TYPE;`` or ``typedef TYPE NAME;`` gives a name."""
        span = self._aliases.get(name)
        return None if span is None else list(lex(self._text, *span))

    def calls(self, name: str) -> Sequence[tuple[int, int]]:
        """Offsets of the name before a ``(``, and of the first token in the parentheses."""
        return self._calls.get(name, ())

    @cached_property
    def _constants(self) -> Mapping[str, int]:
        """Offset of the value of each constant, at the ``=``."""
        blanked = self._text.blanked
        offsets: dict[str, int] = {}
        for place in _VALUE.finditer(blanked):
            name = place[1]
            if name not in offsets and _CONSTANT.search(blanked, max(0, place.start() - MAX_BEFORE), place.start()):
                offsets[name] = place.start(2)
        return offsets

    @cached_property
    def _aliases(self) -> Mapping[str, tuple[int, int]]:
        spans: dict[str, tuple[int, int]] = {}
        for place in _ALIAS.finditer(self._text.blanked):
            group = 2 if place[1] else 3
            spans.setdefault(place[1] or place[4], place.span(group))
        return spans

    @cached_property
    def _calls(self) -> Mapping[str, list[tuple[int, int]]]:
        calls: dict[str, list[tuple[int, int]]] = {}
        for place in _CALL.finditer(self._text.blanked):
            calls.setdefault(place[1], []).append((place.start(), place.end()))
        return calls


def declared_in(text: SourceText) -> DeclaredNames:
    """The names that a text declares, found once."""
    if text.declared is None:
        text.declared = DeclaredNames(text)
    names: DeclaredNames = text.declared
    return names


class LibraryFunctions:
    """The functions that were found so far; what one registers that nothing calls, the audit finds.

    complete: all files were read, so that a function that is not here is in none of them.
    asked: a function that is not here was called, and may be in a file that is still to be read.
    """

    def __init__(self) -> None:
        self.complete = False
        self.asked = False
        self._functions: dict[str, LibraryFunction] = {}

    def get(self, name: str) -> LibraryFunction | None:
        """The function of a name."""
        function = self._functions.get(name)
        self.asked = self.asked or function is None
        return function

    def add(self, function: LibraryFunction) -> None:
        """Keep a function."""
        self._functions[function.name] = function


SEARCHED = 4096
"""So many characters that are searched for a word cost one unit."""


class UnitScope:
    """The constants and functions of one translation unit. work: as in `FileScope`."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions) -> None:
        self._unit, self._functions = unit, functions
        self.work = unit.work
        self._values: dict[tuple[str, bool], Sequence[CppToken] | None] = {}
        self._aliases: dict[str, Sequence[CppToken] | None] = {}
        self._signatures: dict[tuple[str, bool], str | None] = {}

    def function(self, name: str) -> LibraryFunction | None:
        """The function of that name that takes a library."""
        return self._functions.get(name)

    def may_follow(self) -> bool:
        """True if a function that is not found can be in a file that is still to be read."""
        return not self._functions.complete

    def ambiguous(self, tokens: Iterable[CppToken]) -> set[str]:
        """The atoms that decide what the macros among *tokens* are."""
        return self._unit.ambiguous(tokens)

    def value(self, name: str, everywhere: bool = True) -> Sequence[CppToken] | None:
        """The value of a constant; *everywhere*: it may be in an included file. Errors: OverWork."""
        if (name, everywhere) not in self._values:
            texts = self._texts() if everywhere else iter((self._unit.text,))
            values = (declared_in(text).constant(name) for text in texts if name in text.text)
            self._values[name, everywhere] = next(filter(None, values), None)
        value = self._values[name, everywhere]
        self.work.spend(LOOKUP + weight(value or ()))
        return value

    def infer(self, function: Sequence[CppToken], everywhere: bool) -> str | None:
        """The signature of a function."""
        if not function or function[0].text == "[":
            return signature_of(function, self._texts(), self._alias)
        asked = ("".join(token.text for token in function), everywhere)
        if asked not in self._signatures:
            texts = self._texts() if everywhere else iter((self._unit.text,))
            self._signatures[asked] = signature_of(function, texts, self._alias)
        return self._signatures[asked]

    def _alias(self, name: str) -> Sequence[CppToken] | None:
        """The type that ``using NAME = TYPE;`` or ``typedef TYPE NAME;`` gives a name."""
        if name not in self._aliases:
            self._aliases[name] = None
            aliases = (declared_in(text).alias(name) for text in self._texts() if name in text.text)
            self._aliases[name] = next(filter(None, aliases), None)
        return self._aliases[name]

    def _texts(self) -> Iterator[SourceText]:
        """The texts of the file and of what it includes, each of which is searched."""
        yield self._unit.text
        for name in sorted(self._unit.included):
            file = self._unit.project.header(name)
            if file is not None:
                self.work.spend(1 + len(file.text.text) // SEARCHED)
                yield file.text
