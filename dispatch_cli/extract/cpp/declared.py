"""Names that the text of a file declares: constants, aliases of types, functions. Each text is searched once for all.

To search it for each name that is asked for takes a square of the time: files define thousands of operators.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from dispatch_cli.extract.cpp.tokens import CppToken, SourceText, lex

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
