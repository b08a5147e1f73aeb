"""Declarations in the files of a translation unit outside of its blocks: functions and types."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from dispatch_cli.extract.cpp.preprocessor.tokens import CppToken, SourceText
from dispatch_cli.extract.cpp.preprocessor.unit import TranslationUnit
from dispatch_cli.extract.cpp.signatures import declared_in, signature_of

LOOKUP = 10
"""Units of work of a name that stands for an expression."""
SEARCHED = 4096
"""So many characters that are searched for a word cost one unit."""


class LibraryFunction(NamedTuple):
    """A function, or a lambda, that takes a library. parameters: their names. body: its statements."""

    name: str
    parameters: tuple[str, ...]
    body: tuple[CppToken, ...]


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


class UnitScope:
    """The functions of one translation unit. work: the budget of its statements."""

    def __init__(self, unit: TranslationUnit, functions: LibraryFunctions) -> None:
        self._unit, self._functions = unit, functions
        self.work = unit.work
        self._aliases: dict[str, Sequence[CppToken] | None] = {}
        self._signatures: dict[tuple[str, bool], str | None] = {}

    def function(self, name: str) -> LibraryFunction | None:
        """The function of that name that takes a library."""
        return self._functions.get(name)

    def may_follow(self) -> bool:
        """True if a function that is not found can be in a file that is still to be read."""
        return not self._functions.complete

    @property
    def ambiguous(self) -> Set[str]:
        """The macros that are not replaced, since they have several definitions."""
        return self._unit.ambiguous

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
