"""Functions that take a ``torch::Library&``, over all files of a run, and the calls of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dispatch_cli.extract.cpp.context import When
from dispatch_cli.extract.cpp.findings import Findings
from dispatch_cli.extract.cpp.simple import LibraryFunction
from dispatch_cli.extract.cpp.tokens import CppToken

_CALLS = frozenset({"impl", "def", "fallback"})


class LibraryFunctions:
    """The functions that were found so far, and the calls that wait for the others."""

    def __init__(self) -> None:
        self._functions: dict[str, LibraryFunction] = {}
        self._unused: dict[LibraryFunction, tuple[CppToken, Sequence[str], When]] = {}
        self._waiting: list[tuple[str, Callable[[LibraryFunction], bool], Callable[[], None]]] = []

    def get(self, name: str) -> LibraryFunction | None:
        """The function of a name; it counts as called."""
        function = self._functions.get(name)
        if function is not None:
            self._unused.pop(function, None)
        return function

    def add(self, function: LibraryFunction, token: CppToken, libraries: Sequence[str], when: When) -> None:
        """Keep a function. libraries: those of its parameters that are libraries."""
        if function.name:
            self._functions.setdefault(function.name, function)
        self._unused[function] = (token, libraries, when)

    def later(self, name: str, call: Callable[[LibraryFunction], bool], refuse: Callable[[], None]) -> None:
        """Keep a call of a function that is not found yet."""
        self._waiting.append((name, call, refuse))

    def finish(self, findings: Findings) -> None:
        """All files are read: make the calls that wait, and say which functions nobody calls."""
        for name, call, refuse in self._waiting:
            function = self.get(name)
            if function is None or not call(function):
                refuse()
        for function, (_, libraries, when) in self._unused.items():
            for statement in _registrations(function.body, libraries):
                name = f"the function {function.name}" if function.name else "this lambda"
                findings.refuse(statement, f"no block is known that calls {name}", when)


def _registrations(tokens: Sequence[CppToken], libraries: Sequence[str]) -> Iterable[Sequence[CppToken]]:
    for index in range(len(tokens) - 3):
        if (
            tokens[index].text in libraries
            and tokens[index + 1].text in (".", "->")
            and tokens[index + 2].text in _CALLS
        ):
            end = next((place for place in range(index, len(tokens)) if tokens[place].text == ";"), len(tokens))
            yield tokens[index:end]
