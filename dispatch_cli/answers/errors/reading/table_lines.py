"""The lines that PyTorch prints of a dispatch table, in any text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule

MAX_LINE = 4000
"""Characters of a line of a dump."""
MAX_LINES = 1000
"""Lines of a dump; a whole table has some 140."""


class DumpLine(NamedTuple):
    """A line of a printed dispatch table."""

    kernel: str
    fallthrough: bool
    rule: Rule


_LINE_HEAD = r"\b(?P<key>[A-Z]\w{1,60})(?:\[alias\])?(?P<inactive> \(inactive\))?: "
_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>\S.*)")
_REGISTERED_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>(?:fallthrough )?registered at .*)")
_CLOSING = " \t\r'\"`)}"
"""Signs after the last line of a table that was quoted: ``…[kernel]")``."""
_FALLTHROUGH = "fallthrough "
_RULES = {f"{rule.dump_text}]": rule for rule in Rule}


def dump_lines(text: str) -> Iterator[tuple[str, DumpLine]]:
    """The lines of a printed table by their keys, whatever stands before each."""
    for line in _lines(text):
        head, _, tail = line.rpartition(" [")
        rule = _RULES.get(tail)
        match = _line(head) if rule is not None else None
        if rule is not None and match is not None:
            kernel = match["rest"]
            yield match["key"], DumpLine(kernel.removeprefix(_FALLTHROUGH), kernel.startswith(_FALLTHROUGH), rule)


def _lines(text: str) -> Iterator[str]:
    """The lines that may be part of a dump, as many as one can have."""
    if "]" not in text:
        return iter(())
    stripped = (line.rstrip(_CLOSING) for line in text.splitlines())
    return islice((line for line in stripped if len(line) <= MAX_LINE and line.endswith("]")), MAX_LINES)


def _line(text: str) -> re.Match[str] | None:
    """A key and what is registered there; the words of a log before it, such as ``ERROR: ``, are no key."""
    match = _REGISTERED_LINE.search(text) or _LINE.search(text)
    while match is not None and (inner := _LINE.match(text, match.start("rest"))) is not None:
        match = inner
    return match
