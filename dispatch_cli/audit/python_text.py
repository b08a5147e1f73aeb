"""Calls in Python text that look like registrations."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from dispatch_cli.model.span import Span

MAX_TEXT = 160
"""Characters of a line that are kept."""
_FUNCTIONS = (
    "register_fake|register_kernel|register_vmap|register_torch_dispatch|impl_abstract|custom_op|triton_op|"
    "direct_register_custom_op"
)
_METHODS = (
    "define|impl|fallback|_register_fake|register_autograd|_register_torch_dispatch_rule|register_autocast|py_impl|"
    f"py_functionalize_impl|{_FUNCTIONS}"
)
_FUNCTION = re.compile(_FUNCTIONS)
_METHOD = re.compile(_METHODS)
_END = r"(?:[ \t\n\r]*(?P<open>\()|(?=[ \t]*(?:#|$)))"
_CALL = re.compile(rf"(?P<name>{_METHODS}|Library)\b{_END}", re.M)
_ANY_CALL = re.compile(rf"\b(?P<name>[A-Za-z_]\w*)\b{_END}", re.M)
_IMPORTED = re.compile(r"^[ \t]*from torch\.library import ([^\n(]+|\([^)]*(?:\)|\Z))", re.M)
_NAMED = re.compile(rf"^[ \t]*(\w+)[ \t]*=[ \t]*(?:torch\.)?library\.(?:{_METHODS})\b(?!\s*\()", re.M)
_DEFINES = re.compile(r"\b(?:def|class)\s+$")
_OF_LIBRARY = re.compile(r"(?<![\w.])(?:torch\.)?library\.$")
_DECORATES = re.compile(r"^[ \t]*@[ \t]*[\w.]+\.$", re.M)
"""A method of an operator: what torch.library has by these names takes arguments."""
_BEFORE = 200
"""Characters before a name that are looked at."""
_QUOTED = re.compile(
    r"(?P<triple>\"\"\"|''')(?:.*?(?<!\\)(?:\\\\)*(?P=triple)|.*)"
    r"|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"?|'[^'\\\n]*(?:\\.[^'\\\n]*)*'?|#[^\n]*",
    re.S,
)


class Unaccounted(NamedTuple):
    """A place that looks like a registration and is not known to anyone.

    what: the part of the text that looks so, such as ``.impl(``. text: the line, without blanks around it, shortened.
    """

    at: Span
    what: str
    text: str


def unaccounted(file: str, line: int, column: int, what: str, lines: list[str]) -> Unaccounted:
    """The place at a line (from 1) and column (from 1) of a file, which has these lines."""
    return Unaccounted(Span(file, line, column), what, lines[line - 1].strip()[:MAX_TEXT])


def places(file: str, text: str, accounted: frozenset[tuple[str, int]]) -> list[Unaccounted]:
    """The calls that look like registrations, except those on *accounted* lines."""
    if "library" not in text and _CALL.search(text) is None:
        return []
    code = without_strings(text)
    imported = {
        words[-1]
        for names in _IMPORTED.findall(code)
        for name in names.strip("()").split(",")
        if (words := name.split())  # ``impl as register_impl``: the last word is the name that is used
    }
    imported.update(_NAMED.findall(code))  # ``impl = torch.library.impl``
    starts = [0, *(match.end() for match in re.finditer("\n", code))]
    lines: list[str] | None = None
    missed = []
    for call in (_ANY_CALL if imported else _CALL).finditer(code):
        name, start = call["name"], call.start("name")
        before = code[max(start - _BEFORE, 0) : start]
        if not _is_call(before, name, imported) or not (call["open"] or _DECORATES.search(before)):
            continue
        line = bisect_right(starts, start)
        if (file, line) not in accounted:
            lines = lines or text.split("\n")
            missed.append(unaccounted(file, line, start - starts[line - 1] + 1, name, lines))
    return missed


def _is_call(before: str, name: str, imported: set[str]) -> bool:
    """True if the call of a name, or a decorator, may register. before: the text before the name."""
    if before[-1:] == "_" or before[-1:].isalnum() or _DEFINES.search(before):
        return False
    if name == "Library" and _OF_LIBRARY.search(before):
        return True
    if before.rstrip().endswith("."):
        return _METHOD.fullmatch(name) is not None
    return name in imported or _FUNCTION.fullmatch(name) is not None


def without_strings(text: str) -> str:
    """The text with blanks in place of comments and strings; lines and columns stay."""
    return _QUOTED.sub(lambda quoted: "\n".join(" " * len(line) for line in quoted[0].split("\n")), text)
