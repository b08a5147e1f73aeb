"""The text of a C++ file: its lines and places, and what is looked up in it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from functools import cached_property

from dispatch_cli.model.span import Span

PREFIX = r"(?:u8|[uUL])?"
REST_OF_LINE = r"[^\\\n]*(?:\\.[^\\\n]*)*"
"""Remainder of a line, with the lines that it goes on with. Its loop runs once for each backslash, not for each
character, as the memory of the pattern grows with that."""
IN_QUOTES = r'[^"\\\n]*(?:\\.[^"\\\n]*)*'
IN_SINGLE_QUOTES = r"[^'\\\n]*(?:\\.[^'\\\n]*)*"
RAW = r'R"(?P<{0}>[^()\\\s"]{{0,16}})\((?:.*?\)(?P={0})"|.*)'
_SKIPPED = re.compile(
    rf"//{REST_OF_LINE}|/\*(?:.*?\*/|.*)"
    rf"|(?P<raw>(?<![\w]){PREFIX}{RAW.format('d')})"
    rf'|"{IN_QUOTES}"?'
    rf"|(?<=[0-9a-fA-F])(?<!\bu8)'(?=[0-9a-fA-F])|'{IN_SINGLE_QUOTES}'?",
    re.S,
)
"""Comments and literals; one that does not end takes the rest of its line."""
_LOOSE = re.compile(r"\\[ \t\f\v]+\n")
_ALIAS = re.compile(r"\busing\s+(\w+)\s*=([^;{}]{1,200});|\btypedef\s+([^;{}]{1,200}?)\s*\b(\w+)\s*;")
_CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
_BRACE = re.compile(
    r"(?P<closing>\})|(?:\b(?:namespace|struct|class)\s+(?:[A-Z0-9_]+\s+){0,3}?(?:\w+\s*::\s*){0,9}(?P<scope>\w+)\s*"
    r"(?:final\s*)?(?::[^:;{}()][^;{}()]{0,300})?)?\{"
)
"""A brace, with the head of a class or namespace before an opening one."""


def normal(text: str) -> str:
    """The text with ``\\n`` at the ends of lines, and no blanks between a backslash and the end of its line."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _LOOSE.sub("\\\n", text) if "\\" in text else text


class SourceText:
    """The text of a file, with ``\\n`` at the ends of its lines. What is looked up in it is searched once."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = normal(text)

    @cached_property
    def blanked(self) -> str:
        """The text with blanks in place of comments and literals; a newline inside a comment is spliced."""
        return _SKIPPED.sub(_blank, self.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """The line, from 1, of a character."""
        return bisect_right(self._starts, offset)

    def span(self, offset: int) -> Span:
        """The place of a character."""
        line = self.line(offset)
        return Span(self.name, line, offset - self._starts[line - 1] + 1)

    def scope(self, offset: int) -> str:
        """The innermost class, or namespace with a name, that a character is in; an empty text for none."""
        return self._scopes[bisect_right(self._scopes, (offset,)) - 1][1]

    @cached_property
    def _scopes(self) -> list[tuple[int, str]]:
        """The offsets of braces, each with the class or namespace that what follows it is in."""
        scopes, around = [(-1, "")], [""]
        for brace in _BRACE.finditer(self.blanked):
            if not brace["closing"]:
                around.append(brace["scope"] or around[-1])
            elif len(around) > 1:
                around.pop()
            scopes.append((brace.end(), around[-1]))
        return scopes

    @cached_property
    def aliases(self) -> Mapping[str, tuple[int, int]]:
        """The types that ``using NAME = TYPE;`` and ``typedef TYPE NAME;`` give names."""
        aliases: dict[str, tuple[int, int]] = {}
        for match in _ALIAS.finditer(self.blanked):
            aliases.setdefault(match[1] or match[4], match.span(2 if match[1] else 3))
        return aliases

    @cached_property
    def calls(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """The places of names before a ``(``, with that."""
        calls: dict[str, list[tuple[int, int]]] = {}
        for match in _CALL.finditer(self.blanked):
            calls.setdefault(match[1], []).append(match.span())
        return calls


def _blank(match: re.Match[str]) -> str:
    lines = [" " * len(line) for line in match[0].split("\n")]
    if match[0].startswith("/*"):  # a comment over several lines is one blank: a directive goes on behind it
        lines[:-1] = [f"{line[:-1]}\\" if line else "" for line in lines[:-1]]
    return "\n".join(lines)
