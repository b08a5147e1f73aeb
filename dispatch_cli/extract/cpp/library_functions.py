"""Functions that take a ``torch::Library&``, over all files of a run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dispatch_cli.extract.cpp.context import When
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.simple import LibraryFunction
from dispatch_cli.extract.cpp.tokens import CppToken

_CALLS = frozenset({"impl", "def", "fallback"})
_Place = tuple[str, int, "tuple[str, int] | None"]


def _place(token: CppToken) -> _Place:
    return token.source.name, token.offset, token.use and (token.use[0].name, token.use[1])


class LibraryFunctions:
    """The functions that were found so far.

    complete: all files were read, so that a function that is not here is in none of them.
    asked: a function that is not here was called, and may be in a file that is still to be read.
    """

    def __init__(self) -> None:
        self.complete = False
        self.asked = False
        self._functions: dict[str, tuple[LibraryFunction, _Place]] = {}
        self._all: dict[_Place, tuple[LibraryFunction, Sequence[str], When]] = {}
        self._used: set[_Place] = set()

    def get(self, name: str) -> LibraryFunction | None:
        """The function of a name; it counts as called."""
        function = self._functions.get(name)
        if function is None:
            self.asked = True
            return None
        self._used.add(function[1])
        return function[0]

    def add(self, function: LibraryFunction, token: CppToken, libraries: Sequence[str], when: When) -> None:
        """Keep a function. libraries: those of its parameters that are libraries."""
        place = _place(token)
        if function.name:
            self._functions[function.name] = function, place
        self._all[place] = function, libraries, when

    def use(self, token: CppToken) -> None:
        """Note that the function is called that was added with this token."""
        self._used.add(_place(token))

    def report_unused(self, findings: Findings) -> None:
        """Say which functions no block calls."""
        for place, (function, libraries, when) in self._all.items():
            name = f"the function {function.name}" if function.name else "this lambda"
            for statement in _registrations(function.body, libraries) if place not in self._used else ():
                findings.refuse(statement, f"no block is known that calls {name}", when)


def _registrations(tokens: Sequence[CppToken], libraries: Sequence[str]) -> Iterable[Sequence[CppToken]]:
    behind = 0
    for index in range(len(tokens) - 3):
        if (
            index >= behind
            and tokens[index].text in libraries
            and tokens[index + 1].text in (".", "->")
            and tokens[index + 2].text in _CALLS
        ):
            behind = next((place for place in range(index, len(tokens)) if tokens[place].text == ";"), len(tokens))
            yield tokens[index:behind]
