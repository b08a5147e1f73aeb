"""Functions that take a ``torch::Library&``, over all files of a run."""

from __future__ import annotations

from dispatch_cli.extract.cpp.simple import LibraryFunction


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
