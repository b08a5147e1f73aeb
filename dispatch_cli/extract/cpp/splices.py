"""Ends of lines, and lines that a backslash joins: the text of a C++ file as the lexer takes it."""

from __future__ import annotations

import re

PREFIX = r"(?:u8|[uUL])?"
REST_OF_LINE = r"[^\\\n]*(?:\\.[^\\\n]*)*"
"""Remainder of a line, with the lines that it goes on with. Its loop runs once for each backslash, not for each
character, as the memory of the pattern grows with that."""
IN_QUOTES = r'[^"\\\n]*(?:\\.[^"\\\n]*)*'
IN_SINGLE_QUOTES = r"[^'\\\n]*(?:\\.[^'\\\n]*)*"
RAW = r'R"(?P<{0}>[^()\\\s"]{{0,16}})\((?:.*?\)(?P={0})"|.*)'
SKIPPED = re.compile(
    rf"//{REST_OF_LINE}|/\*(?:.*?\*/|.*)"
    rf"|(?P<raw>(?<![\w]){PREFIX}{RAW.format('d')})"
    rf'|"{IN_QUOTES}"?'
    rf"|(?<=[0-9a-fA-F])(?<!\bu8)'(?=[0-9a-fA-F])|'{IN_SINGLE_QUOTES}'?",
    re.S,
)
"""Comments and literals; one that does not end takes the rest of its line."""
_MARKS = r"[-/*:><&|=#+]"
_WITHIN = re.compile(rf"\\\n(?:(?<=[\w$]\\\n)(?=[\w$\\])|(?<={_MARKS}\\\n)(?=\\|{_MARKS}))")
_LOOSE = re.compile(r"\\[ \t\f\v]+\n")


def normal(text: str) -> str:
    """The text with ``\\n`` at the ends of lines, and without backslashes that join lines within a name or an operator.

    All that such a line goes on with is put in one line, and as many empty ones follow, so that the next lines keep
    their numbers. Literals that are raw stay. Blanks between a backslash and the end of its line count for nothing.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" not in text:
        return text
    if _LOOSE.search(text) is not None:
        raw = _Raw(text)
        text = _LOOSE.sub(lambda match: match[0] if raw.touches(*match.span()) else "\\\n", text)
    if "\\\n" in text and _WITHIN.search(text) is not None:
        text = _joined(text)
    return text


def _joined(text: str) -> str:
    raw = _Raw(text)
    parts: list[str] = []
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        while end > start and text[end - 1] == "\\":
            end = text.find("\n", end + 1)
        end = len(text) if end == -1 else end
        line = text[start:end]
        if "\\\n" in line and _WITHIN.search(line) is not None and not raw.touches(start, end):
            count = line.count("\\\n")
            line = line.replace("\\\n", "") + "\n" * count
        parts.append(line)
        start = end + 1
    return "\n".join(parts) + ("\n" if text.endswith("\n") else "")


class _Raw:
    """Places of the raw literals of a text. They are asked for in order."""

    def __init__(self, text: str) -> None:
        matches = SKIPPED.finditer(text) if 'R"' in text else ()
        self._left = [match.span("raw") for match in matches if match["raw"] is not None][::-1]

    def touches(self, start: int, end: int) -> bool:
        """True if a part of the text has a part of a raw literal."""
        while self._left and self._left[-1][1] <= start:
            self._left.pop()
        return bool(self._left) and self._left[-1][0] < end
