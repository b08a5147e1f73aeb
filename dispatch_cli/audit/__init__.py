"""A second look at sources, for registrations that ``extract`` did not see.

It works on text alone, line by line, and shares no code with ``dispatch_cli.extract``: what one of them misses, the
other one can find.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch_cli.audit import cpp_text, python_text
from dispatch_cli.audit.lines import same_ends, whole_words
from dispatch_cli.audit.python_text import Unaccounted
from dispatch_cli.declarations.source import SourceError

_Macro = tuple["str | None", str]
MAX_MACROS = 1000
"""Macros whose uses are looked for; others count as used."""
MAX_CHAIN = 30
"""Macros that use each other in a row which are followed; each further one takes a look at all files."""

__all__ = ["Unaccounted", "audit"]


def audit(files: Sequence[str], read: Callable[[str], str], accounted: frozenset[tuple[str, int]]) -> list[Unaccounted]:
    """The places that look like registrations and are not in *accounted*, in the order of *files* and lines.

    Args:
        files: C++ and Python sources, also those from which nothing was extracted.
        read: gives the text of one. A file that it refuses with SourceError is left out.
        accounted: file and line of what is known.
    """
    missed: list[Unaccounted] = []
    in_macros: list[tuple[str, Unaccounted]] = []
    for file in files:
        text = _text(file, read)
        if python_text.is_python(file, text):
            missed += python_text.places(file, text, accounted)
        elif cpp_text.may_register(text):
            here = cpp_text.places(file, text, accounted)
            missed += here.direct
            in_macros += here.in_macros
    used = _UsedMacros({macro for macro, _ in in_macros}, files, read)
    missed += [place for macro, place in in_macros if used.has(place.at.file, macro)]
    order = {file: number for number, file in enumerate(files)}
    return sorted(missed, key=lambda place: (order[place.at.file], place.at.line))


class _UsedMacros:
    """Macros that are used, by themselves or by other macros, where they can register with the dispatcher.

    A macro is known by its name and the file that defines it: None for all files, where the one that uses it has no
    definition of its own.
    """

    def __init__(self, macros: set[str], files: Sequence[str], read: Callable[[str], str]) -> None:
        self._used: set[_Macro] = set()
        parts: dict[tuple[str, str], set[_Macro]] = {}
        seen: set[str] = set()
        waiting = macros
        for _ in range(MAX_CHAIN):
            if not waiting or len(seen) >= MAX_MACROS:
                break
            seen |= waiting
            for file in files:
                for use in cpp_text.macro_uses(_text(file, read), waiting):
                    macro = (file if use.is_own else None, use.name)
                    if use.by is None:
                        self._used.add(macro)
                    else:
                        parts.setdefault((file, use.by), set()).add(macro)
            waiting = {name for _, name in parts} - seen
        self._used.update((None, name) for name in waiting)
        while more := {part for macro in parts if self.has(*macro) for part in parts[macro]} - self._used:
            self._used |= more

    def has(self, file: str, macro: str) -> bool:
        """True if the macro of a file is used."""
        return (file, macro) in self._used or (None, macro) in self._used


def _text(file: str, read: Callable[[str], str]) -> str:
    try:
        text = same_ends(read(file))
    except SourceError:
        return ""
    return text if python_text.is_python(file, text) else whole_words(text)
