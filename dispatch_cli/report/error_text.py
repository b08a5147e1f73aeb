"""What PyTorch's texts say: which operator, at which key, and the dispatch table that some of them print.

The texts come out of logs, trackers and terminals: with prefixes and quote marks before each line, wrapped, escaped, in
colour. Nothing here believes them; names are data, and lengths are bounded. How the texts read is a table:
`dispatch_cli.report.messages`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from functools import cache
from itertools import islice
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES, patterns
from dispatch_cli.report.messages.template import DETAILS, GAP, NO_GAP, expression
from dispatch_cli.report.pasted_text import Plain, plain, rejoined, uncoloured

MAX_CHARACTERS = 8 << 20
"""Characters of a text that is searched; PyTorch's longest errors are a thousandth of that."""
MAX_ERRORS = 20
"""Different errors that are taken from one text."""
MAX_LINE = 4000
"""Characters of a line of a dump."""
MAX_LINES = 1000
"""Lines of a dump; a whole table has some 140."""


class DumpLine(NamedTuple):
    """A line of a printed dispatch table."""

    kernel: str
    fallthrough: bool
    rule: Rule


class StateLine(NamedTuple):
    """A line of printed registrations; *active* is False for an overridden one."""

    key: str
    kernel: str
    fallthrough: bool
    active: bool


class ErrorText(NamedTuple):
    """An error or a warning found in a text.

    operator, key: None where the text names none. line: where it begins, 1-based. dump: the dispatch table that it
    prints, by key; empty where it prints none. available: the keys that it lists as available; None where it lists
    none. state: the registrations that it prints, newest first. details: what else it names, by the names of
    `messages.template.HOLES`. available_cut: the text ends inside of the list.
    """

    kind: TextKind
    operator: str | None
    key: str | None
    line: int
    dump: dict[str, DumpLine]
    available: tuple[str, ...] | None
    state: tuple[StateLine, ...] = ()
    details: tuple[tuple[str, str], ...] = ()
    available_cut: bool = False


_HARD_BREAK = re.compile(r"\n[ \t>|]{0,40}")
_LINE_HEAD = r"\b(?P<key>[A-Z]\w{1,60})(?:\[alias\])?(?P<inactive> \(inactive\))?: "
_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>\S.*)")
_REGISTERED_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>(?:fallthrough )?registered at .*)")
_CLOSING = " \t\r'\"`)}"
"""What may stand after the last line of a table that was quoted: ``…[kernel]")``."""
_FALLTHROUGH = "fallthrough "
_RULES = {f"{rule.dump_text}]": rule for rule in Rule}
_WORDS_OF_TABLES = ("registered at", " :: ", *(f" [{end}" for end in _RULES))
_AVAILABLE = re.compile(r"(?:available for these backends: |Available functions are )\[([\w, ]{0,10000})(\]?)")
_OWN_PLACE = re.compile(r"\s*(?: \((?:Triggered internally at|function) .*)?$", re.DOTALL)
"""What PyTorch adds of itself to a warning."""
_WRAPPED = re.compile(r"\n[\s>|]*")
_QUOTES = " \t\r\"'`"


class _Match(NamedTuple):
    """A text of a kind. start, end: of the operator's name or of the text, and of the whole text."""

    kind: TextKind
    start: int
    end: int
    operator: str | None
    key: str | None
    details: tuple[tuple[str, str], ...]


def find_errors(text: str) -> list[ErrorText]:
    """The errors in a text in their order, then the warnings, each operator and key once.

    A text that a terminal broke inside of words is put together again.
    """
    text = uncoloured(text[:MAX_CHARACTERS])
    found = list(_found(plain(text, _worth, _words()), GAP))
    cut = rejoined(text)
    if cut is not None:
        whole = list(_found(plain(cut[0], _worth, _words()), GAP))
        if _say_more(whole, found):
            found = [error._replace(line=cut[1][error.line - 1]) for error in whole]
    if not found and "\n" in text:
        joined = plain(_HARD_BREAK.sub("", text), _worth, _words())
        found = [error._replace(line=1) for error in _found(joined, NO_GAP)]
    return sorted(found, key=lambda error: MESSAGES[error.kind].warning)


def _say_more(these: list[ErrorText], those: list[ErrorText]) -> bool:
    """Whether there are more of *these*, or one has the whole name of an operator that is cut in one of *those*."""
    names = [(one.kind, one.operator or "") for one in those]
    longer = any(
        one.operator is not None
        and one.operator != name
        and one.kind is kind
        and (name in one.operator or one.operator in name)
        for one in these
        for kind, name in names
    )
    return len(these) > len(those) or (len(these) == len(those) and longer)


def lines_of_table(text: str) -> int:
    """How many lines of a dispatch table a text has, whatever error it belongs to."""
    return sum(1 for _ in _dump(plain(text[:MAX_CHARACTERS], _worth, _WORDS_OF_TABLES).text))


@cache
def _words() -> tuple[str, ...]:
    """A text in which nothing of these stands has no error, no line of a table and no registration."""
    return tuple(dict.fromkeys((*(pattern.anchor for pattern in patterns()), *_WORDS_OF_TABLES)))


@cache
def _compiled(template: str, gap: str) -> re.Pattern[str]:
    return re.compile(expression(template, gap))


def _worth(text: str) -> int:
    """How many errors, lines of a table and registrations can be read in a text."""
    errors = sum(1 for _ in _matches(text, GAP))
    return errors + sum(1 for _ in _dump(text)) + sum(1 for _ in _state(text))


def _matches(text: str, gap: str) -> Iterator[_Match]:
    """Every place where a template fits, in any order."""
    there = {anchor for anchor in {pattern.anchor for pattern in patterns()} if anchor in text}
    for kind, template, anchor in patterns():
        if anchor in there:
            for match in _compiled(template, gap).finditer(text):
                groups = {name: value for name, value in match.groupdict().items() if value is not None}
                operator = _operator(groups)
                details = tuple((name, _detail(groups[name])) for name in DETAILS if name in groups)
                start = match.start("op") if "op" in groups else match.start()
                key = groups.get("key") or MESSAGES[kind].key
                yield _Match(kind, start, match.end(), operator, key, details)


def _detail(text: str) -> str:
    """What a text filled in, without what wrapped it or was added after it."""
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


def _found(pasted: Plain, gap: str) -> Iterator[ErrorText]:
    text = pasted.text
    matches: list[_Match] = []
    # of two templates that fit one place, the one that says more
    for match in sorted(_matches(text, gap), key=lambda one: (one.start, -one.end)):
        if not matches or match.start >= matches[-1].end:
            matches.append(match)
    seen: set[tuple[object, ...]] = set()
    starts = [match.start for match in matches] + [len(text)]
    for position, (kind, start, end, operator, key, details) in enumerate(matches):
        # a slot that is told of in several ways is one error
        what = (operator, key) if operator is not None and not MESSAGES[kind].means else (kind, operator, key, details)
        if what in seen:
            continue
        seen.add(what)
        rest = text[end : starts[position + 1]]
        listed = _AVAILABLE.search(re.sub(r"[\s>|]+", " ", rest[:40000]))
        available = None if listed is None else tuple(one.strip() for one in listed[1].split(",") if one.strip())
        cut = listed is not None and not listed[2]
        if cut and available is not None:
            available = available[:-1]  # the last name may be half of one
        line = pasted.line_at(start)
        yield ErrorText(kind, operator, key, line, dict(_dump(rest)), available, tuple(_state(rest)), details, cut)
        if len(seen) == MAX_ERRORS:
            return


def _lines(text: str) -> Iterator[str]:
    """The lines that may be part of a dump, as many as one can have."""
    stripped = (line.rstrip(_CLOSING) for line in text.splitlines())
    return islice((line for line in stripped if len(line) <= MAX_LINE and line.endswith("]")), MAX_LINES)


def _line(text: str) -> re.Match[str] | None:
    """A key and what is registered there; the words of a log before it, such as ``ERROR: ``, are no key."""
    match = _REGISTERED_LINE.search(text) or _LINE.search(text)
    while match is not None and (inner := _LINE.match(text, match.start("rest"))) is not None:
        match = inner
    return match


def _dump(text: str) -> Iterator[tuple[str, DumpLine]]:
    """The lines of a printed table, whatever stands before each."""
    for line in _lines(text):
        head, _, tail = line.rpartition(" [")
        rule = _RULES.get(tail)
        match = _line(head) if rule is not None else None
        if rule is not None and match is not None:
            kernel = match["rest"]
            yield match["key"], DumpLine(kernel.removeprefix(_FALLTHROUGH), kernel.startswith(_FALLTHROUGH), rule)


def _state(text: str) -> Iterator[StateLine]:
    """The lines of printed registrations, whatever stands before each."""
    for line in _lines(text):
        head, _, flags = line.removesuffix("]").rpartition(" [ ")
        match = _line(head.partition(" :: ")[0]) if " :: " in head else None
        if match is not None:
            yield StateLine(match["key"], match["rest"], "fallthrough" in flags.split(), match["inactive"] is None)


def known_lines(dump: dict[str, DumpLine], slots: Container[str]) -> dict[str, DumpLine]:
    """The lines of keys that have a slot; a table of another version may have others."""
    return {key: line for key, line in dump.items() if key in slots}
