"""What is declared in the files of a translation unit outside of its blocks: constants and functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.extract.cpp.library_functions import LibraryFunctions
from dispatch_cli.extract.cpp.signatures import signature_of
from dispatch_cli.extract.cpp.simple import LibraryFunction
from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex
from dispatch_cli.extract.cpp.unit import TranslationUnit

_CONSTANT = r"\b(?:const|constexpr|static|inline)\b[^;{{}}()=]{{0,200}}?\b{name}\s*(?:\[[^\]\n]*\]\s*)?(=|\{{)"
_ALIAS = r"\b(?:using\s+{name}\s*=([^;{{}}]{{1,200}});|typedef\s+([^;{{}}]{{1,200}}?)\s*\b{name}\s*;)"


class UnitScope:
    """The constants and functions of one translation unit."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions) -> None:
        self._unit, self._functions = unit, functions
        self._values: dict[tuple[str, bool], Sequence[CppToken] | None] = {}
        self._aliases: dict[str, Sequence[CppToken] | None] = {}
        self._signatures: dict[tuple[str, bool], str | None] = {}

    def function(self, name: str) -> LibraryFunction | None:
        """The function of that name that takes a library."""
        return self._functions.get(name)

    def may_follow(self) -> bool:
        """Whether a function that is not found can be in a file that is still to be read."""
        return not self._functions.complete

    def ambiguous(self, tokens: Iterable[CppToken]) -> set[str]:
        """The atoms that decide what the macros among *tokens* are."""
        return self._unit.ambiguous(tokens)

    def value(self, name: str, everywhere: bool = True) -> Sequence[CppToken] | None:
        """The value of a constant; *everywhere*: it may be in an included file."""
        if (name, everywhere) not in self._values:
            texts = self._texts() if everywhere else iter((self._unit.text,))
            values = (self._constant(name, text) for text in texts)
            self._values[name, everywhere] = next(filter(None, values), None)
        return self._values[name, everywhere]

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
            pattern = re.compile(_ALIAS.format(name=re.escape(name)))
            for text in self._texts():
                found = pattern.search(text.blanked) if name in text.text else None
                if found is not None:
                    group = 1 if found[1] else 2
                    self._aliases[name] = list(lex(text, found.start(group), found.end(group)))
                    break
        return self._aliases[name]

    def _texts(self) -> Iterator[SourceText]:
        yield self._unit.text
        for name in sorted(self._unit.included):
            file = self._unit.project.header(name)
            if file is not None:
                yield file.text

    @staticmethod
    def _constant(name: str, text: SourceText) -> Sequence[CppToken] | None:
        if name not in text.text:
            return None
        found = re.search(_CONSTANT.format(name=re.escape(name)), text.blanked)
        if found is None:
            return None
        start = found.start(1)
        end = text.blanked.find(";", start)
        tokens = list(lex(text, start, end if end >= 0 else len(text.text)))
        return tokens[1:] if tokens and tokens[0].text == "=" else tokens
