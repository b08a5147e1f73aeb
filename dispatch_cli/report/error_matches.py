"""Where PyTorch's messages stand in a text: each template of `messages` that fits a place.

A long text is searched window by window, and only for the templates of which a window has every word: the time grows
with the length of the text, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from dispatch_cli.model.names import OperatorName
from dispatch_cli.report import error_lines
from dispatch_cli.report.mangled_names import demangled
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, TextPattern, patterns
from dispatch_cli.report.messages.template import DETAILS, expression

WINDOW = 1 << 16
"""Characters in which a text begins that is looked for."""
LONGEST = 1 << 14
"""Characters of the longest text with all that stands between its words."""

_RUN = re.compile(r"[A-Za-z_:]{3,}")
"""What can have words of a template, all of which are such letters."""
MAX_KNOWN = 1 << 14
"""Words of texts for which is kept what they have of templates."""
LONGEST_KNOWN = 100

_OWN_PLACE = re.compile(r"\s*(?: \((?:Triggered internally at|function) .*)?$", re.DOTALL)
"""What PyTorch adds of itself to a warning."""
_WRAPPED = re.compile(r"\n[\s>|]*")
_QUOTES = " \t\r\"'`"


class Match(NamedTuple):
    """A text of a kind. start, end: of the operator's name or of the text, and of the whole text."""

    kind: TextKind
    start: int
    end: int
    operator: str | None
    key: str | None
    details: tuple[tuple[str, str], ...]


def matches(text: str, gap: str) -> Iterator[Match]:
    """Every place where a template fits, in any order. gap: what may stand between words."""
    for start, stop in _windows(text):
        for _, template in _templates_of(text[start:stop]):
            for found in _compiled(template.text, gap).finditer(text, start, stop):
                if found.start() < start + WINDOW:
                    yield _match(template.kind, found)


def marks(text: str) -> Iterator[int]:
    """Offsets near which something can be read, escaped or not: words of messages, and of lines of tables."""
    for start, stop in _windows(text):
        part = text[start:stop]
        words = {anchor for anchor, _ in _templates_of(part)} | {one for one in error_lines.WORDS if one in part}
        for word in words:
            at = text.find(word, start, stop)
            while at >= 0:
                yield at
                at = text.find(word, at + len(word), stop)


def _windows(text: str) -> Iterator[tuple[int, int]]:
    for start in range(0, len(text), WINDOW):
        yield start, min(start + WINDOW + LONGEST, len(text))


@cache
def _by_anchor() -> dict[str, list[tuple[str, TextPattern]]]:
    """Templates by the longest of their words: where it is missing, none of them has to be tried. Each has the next
    one with it, which most texts do not have either; templates of one word have an empty text."""
    found: dict[str, list[tuple[str, TextPattern]]] = {}
    for pattern in patterns():
        anchor, second, *_ = (*pattern.words, "")
        found.setdefault(anchor, []).append((second, pattern))
    return found


def _templates_of(part: str) -> Iterator[tuple[str, TextPattern]]:
    """The templates of which a part of a text has every word, each with the longest one."""
    found = _anchors_in(set(_RUN.findall(part)))
    for anchor in filter(found.__contains__, _by_anchor()) if found else ():
        for second, template in _by_anchor()[anchor]:
            if second in part and all(word in part for word in template.words):
                yield anchor, template


def _anchors_in(words: set[str]) -> set[str]:
    """Which of the words that templates are looked for by are in words of a text. In a log, few of them are new."""
    known = _known()
    new = [word for word in words if word not in known]
    found = {anchor for word in words for anchor in known.get(word, ())}
    if new:
        text = " ".join(new)
        in_text = [anchor for anchor in _by_anchor() if anchor in text]
        found.update(in_text)
        if len(known) > MAX_KNOWN:
            known.clear()
        for word in new:
            if len(word) <= LONGEST_KNOWN:
                known[word] = tuple(anchor for anchor in in_text if anchor in word)
    return found


@cache
def _known() -> dict[str, tuple[str, ...]]:
    return {}


@cache
def _compiled(template: str, gap: str) -> re.Pattern[str]:
    return re.compile(expression(template, gap))


def _match(kind: TextKind, found: re.Match[str]) -> Match:
    groups = {name: value for name, value in found.groupdict().items() if value is not None}
    return Match(
        kind=kind,
        start=found.start("op") if "op" in groups else found.start(),
        end=found.end(),
        operator=_operator(groups),
        key=groups.get("key") or MESSAGES[kind].key,
        details=tuple((name, _detail(name, groups[name])) for name in DETAILS if name in groups),
    )


def _detail(name: str, text: str) -> str:
    """What a text filled in, without what wrapped it or was added after it; names of C++ as they are in sources."""
    if name == "symbol":
        return demangled(text)
    found = _WRAPPED.sub(" ", _OWN_PLACE.sub("", text)).rstrip(_QUOTES)
    return found if "(" in found else found.rstrip(f"){_QUOTES}")


def _operator(groups: dict[str, str]) -> str | None:
    """The operator of a text; its namespace may be named apart from it."""
    named = groups.get("op") or (groups.get("name") if "namespace" in groups else None)
    if named is None:
        return None
    if "namespace" in groups and "::" not in named:
        named = f"{groups['namespace']}::{named}"
    return str(OperatorName.parse_printed(named)) or None
