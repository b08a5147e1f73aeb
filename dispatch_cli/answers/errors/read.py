"""The errors and warnings in a pasted text: operator, key, and the dispatch table that some of them print.

Texts come out of logs, trackers and terminals: with prefixes and quote marks before each line, wrapped, escaped, in
colour. Nothing here believes them: names are data, and lengths are bounded. The texts themselves are a table,
`messages`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from html import unescape
from itertools import pairwise
from typing import NamedTuple

from dispatch_cli.answers.errors.matches import Match, matches
from dispatch_cli.answers.errors.messages import MESSAGES, evidence
from dispatch_cli.answers.errors.template import QUOTE
from dispatch_cli.engine.rules import Rule

MAX_DEPTH = 4
"""Escapes of escapes that are undone: JSON in a log that is JSON itself is escaped twice."""
NARROWEST = 40
"""Columns of the narrowest terminal whose cut lines are put together again."""
WIDTHS = frozenset((80, 100, 120, 132))
"""Columns that terminals often have: there, one line of that length is enough."""
HEAD = 5
"""Characters of a line that tell lines of a log, which begin alike."""
_MARKS = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]|(?m:^)(?:\[rank\d{1,6}\]: ?)+")
"""Colours, and the rank that torchrun writes before each line."""
_SINGLE = "\u2018\u2019\u201a\u201b\u00b4\u2032\uff07\u300c\u300d"
_DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb"
"""Quote marks of printed matter, in several languages."""
_FRAMES = str.maketrans(f"│┃║❱{_SINGLE}{_DOUBLE}", "|||>" + len(_SINGLE) * "'" + len(_DOUBLE) * '"')
"""Lines round the tracebacks of rich, its mark before the line that was running, and quote marks."""
_ENTITY = re.compile(r"&(?:amp;){0,2}(quot|apos|lt|gt|amp|nbsp|#(?!1[03];)\d{2,3}|#x(?!0[AaDd])[0-9A-Fa-f]{2});")
"""A character reference of HTML, ``&quot;``; line breaks are left, so that lines keep their numbers."""
_ESCAPE = re.compile(r"\\(?:([\\/'\"nrtbf])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U(000[0-9A-Fa-f]{5}))")
_DRIVE = re.compile(r"(?<![\\\w])[A-Za-z]:\\(?!\\)")
"""A path of Windows, ``C:\\new``; where it is escaped, it has two backslashes."""
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
MAX_CHARACTERS = 8 << 20
"""Characters of a text that is read; PyTorch's longest errors have a fiftieth of that."""
MAX_ERRORS = 20
"""Different errors that are taken from one text."""
MAX_LINE = 4000
"""Characters of a line of a dump."""


class ErrorText(NamedTuple):
    """An error or a warning found in a text.

    operator, key: None where the text names none. line: where it begins, 1-based. dump: the rules of the dispatch
    table that it prints, by key; empty where it prints none. available: the keys that it lists as available; None where
    it lists none. details: what else it names, by the names of `template.HOLES`. available_cut: the text ends inside of
    the list. earlier: another error came after it that is not its effect, and ended the program.
    """

    kind: str
    operator: str | None
    key: str | None
    line: int
    dump: dict[str, Rule]
    available: tuple[str, ...] | None
    details: tuple[tuple[str, str], ...] = ()
    available_cut: bool = False
    earlier: bool = False

    @property
    def names(self) -> dict[str, str]:
        """The names that sentences about it have: details, operator and key."""
        own = {"op": self.operator, "key": self.key}
        return {**dict(self.details), **{name: value for name, value in own.items() if value is not None}}


_NAMED = r"(?:Error|Exception|Warning|Unsupported|Failed)[:(]"
_NO_ERROR = re.compile(
    r"(?m)(?:.{0,200}?(?:\b(?:INFO|DEBUG|PASSED|[IDV]\d{4} \d\d:\d\d)\b|\bnote:)|\s*-- )"
    rf"(?!.*(?:{_NAMED}|\]$))"
    r"|.{0,300}?(?:\b(?:tensorflow|jax(?:lib)?|xgboost|cupy\w*|pandas)\.[\w.]*\w:|ONNXRuntimeError\b)"
    r"|.{0,300}?#\w{1,30},? \""
)
"""Lines that tell of no error, or of one of another package, and macros of C++: not those of tables."""
_AVAILABLE = re.compile(
    r"(?:available for these backends: |Available functions are |dispatch keys are: ?)\[([\w, ]{0,10000})(\]?)"
)
_RAISED = r"[^\n('\"]{0,120}?\b[A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning): "
"""Begins the text of an exception, which follows a frame directly where Python has no source (``python -c``)."""
_CODE = re.compile(
    rf"(?m:^([ \t]{{1,80}}))?File {QUOTE}[^\n]{{1,500}}?{QUOTE}, line \d{{1,9}}(?:, in [^\n]{{0,500}})?"
    rf"\n(?!{_RAISED})([^\n]*)"
)
"""A frame of a traceback: the line that was running may have the words of a message, as ``raise ValueError("…")``.

Where that line was left out, the next one is not as far to the right as the frame."""
_HANDLING = "During handling of the above exception"
"""Stands between two errors of which the second ended the program; it need not have the same cause."""
_DIRECT_CAUSE = "direct cause of the following exception"
_TRACEBACK = "Traceback (most recent call last)"
_CHILD_FAILED = re.compile(r"\b(?:ChildFailedError|CalledProcessError)\b")
"""The last error of a process that started others: the effect of an error in one of these."""
_NOT_LOADED = frozenset(("undefined-symbol", "no-library-file"))
"""Kinds that are the cause of a later error about an operator that is not defined."""
_BREAKS = re.compile(r"[\s>|]+")
_LINE_HEAD = r"(?:\b(?P<key>[A-Z]\w{1,60})(?:\[alias\])?(?: \(inactive\))?: )+"
"""Begins a line of a table; words of a log before its key, such as ``ERROR: ``, are none."""
_LINE = re.compile(rf"{_LINE_HEAD}\S")
_REGISTERED_LINE = re.compile(rf"{_LINE_HEAD}(?:fallthrough )?registered at ")
_CLOSING = " \t\r'\"`)}"
"""Signs after the last line of a table that was quoted: ``…[kernel]")``."""
_RULES = {f"{rule.dump_text}]": rule for rule in Rule}


def find_errors(text: str) -> list[ErrorText]:
    """The errors in a text, the one to explain first, then the warnings; each operator and key once.

    What names no operator is left out where another text of its kind does. Lines that a terminal or a log broke are put
    together again.
    """
    text = uncoloured(text[:MAX_CHARACTERS])
    lines = [*enumerate(text.split("\n"), 1)]
    errors = _read(lines)
    if len(lines) > 1:
        joined = _read(rejoined(lines))
        if len(joined) >= len(errors) and _names(joined) != _names(errors):
            errors = joined
    signs = dict(evidence(text))
    if "names_pytorch" not in signs:
        errors = [error for error in errors if "shared" not in error.names and "other_framework" not in signs]
    named = {error.kind for error in errors if error.operator is not None}
    errors = [error for error in errors if error.operator or error.kind not in named]
    of_end = [error for error in errors if not (error.earlier or is_warning(error))]
    known = [error for error in errors if not MESSAGES[error.kind].general]
    if not all(map(is_warning, known)):
        # a general sentence is that of the exception around another, or of the error that ended the program
        errors = [*known, *(of_end if all(MESSAGES[error.kind].general for error in of_end) else ())]
    causes = _NOT_LOADED if {error.kind for error in of_end} == {"not-defined"} else frozenset()
    # the class of an exception tells less than what it says
    return sorted(
        errors,
        key=lambda error: (is_warning(error), error.earlier and error.kind not in causes, "by_class" in error.names),
    )


def _names(errors: list[ErrorText]) -> list[tuple[object, ...]]:
    return [(error.kind, error.operator, error.key, error.details, error.available) for error in errors]


def _start_of_end(text: str) -> int:
    """Offset from which a text is about the error that ended the program; those before it are not its causes."""
    start = text.rfind(_TRACEBACK)
    before = text.rfind(_TRACEBACK, 0, max(start, 0))
    is_apart = before >= 0 and _DIRECT_CAUSE not in text[before:start] and not _CHILD_FAILED.search(text, start)
    return max(text.rfind(_HANDLING), start if is_apart else 0)


def is_warning(error: ErrorText) -> bool:
    """True for a warning; a call for which vmap falls back to a loop is warned about, and succeeds."""
    return MESSAGES[error.kind].warning or any(name in ("loops", "warned") for name, _ in error.details)


def _read(lines: Iterable[tuple[int, str]]) -> list[ErrorText]:
    """One reading of the numbered lines of a text, without escapes: quotes and line breaks are what they stand for."""
    parts = [(number, part) for number, line in lines for part in unescaped(line).split("\n")]
    text = "\n".join(part for _, part in parts)
    ordered = _apart(text)
    starts = [match.start for match in ordered] + [len(text)]
    end_at = _start_of_end(text)
    errors: dict[tuple[object, ...], ErrorText] = {}
    for position, match in enumerate(ordered):
        kind, _, start, end, operator, key, details = match
        # texts of several kinds about one slot are one error
        about_slot = operator is not None and MESSAGES[kind].rules
        what = (operator, key or MESSAGES[kind].key) if about_slot else (kind, operator, key, details)
        if what not in errors:
            rest = text[end : starts[position + 1]]
            available, cut = _available(rest)
            table = dict(dump_lines(rest)), available
            line, _ = parts[text.count("\n", 0, start)]
            errors[what] = ErrorText(kind, operator, key, line, *table, details, cut, start < end_at)
            if len(errors) == MAX_ERRORS:
                break
        elif start > end_at:
            errors[what] = errors[what]._replace(earlier=False)
    return [*errors.values()]


def _apart(text: str) -> list[Match]:
    """The matches in their order, without those in the code of a traceback and in lines that tell of no error.

    Of two that overlap the longer one is taken, and of two as long the one that leaves less open.
    """
    code = [frame.span(2) for frame in _CODE.finditer(text) if frame[2].startswith(frame[1] or "")]
    begins = [start for start, _ in code]
    separate: list[Match] = []
    for match in sorted(matches(text), key=_precedence):
        at = bisect_right(begins, match.start) - 1
        is_code = at >= 0 and match.start < code[at][1]
        is_error = not _NO_ERROR.match(text, text.rfind("\n", 0, match.begin) + 1)
        if is_error and not is_code and (not separate or match.start >= separate[-1].end):
            separate.append(match)
    return separate


def _precedence(match: Match) -> tuple[int, int, int, int]:
    flags = sum(not value for _, value in match.details)
    return match.start, -match.end, len(match.details) - flags, -flags


def _available(rest: str) -> tuple[tuple[str, ...] | None, bool]:
    """The keys that are listed after an error, and whether the list is cut."""
    listed = _AVAILABLE.search(_BREAKS.sub(" ", rest))
    if listed is None:
        return None, False
    # a terminal breaks names, too: inside of one there is no space
    names = tuple(name.replace(" ", "") for name in listed[1].split(",") if name.strip())
    # the last name of a cut list may be half of one
    return (names, False) if listed[2] else (names[:-1], True)


def dump_lines(text: str) -> Iterator[tuple[str, Rule]]:
    """The key and the rule of each line of a printed table, whatever stands before it."""
    for line in text.splitlines():
        head, _, tail = line.rstrip(_CLOSING).rpartition(" [")
        rule = _RULES.get(tail)
        if rule is not None and len(head) <= MAX_LINE:
            match = _REGISTERED_LINE.search(head) or _LINE.search(head)
            if match is not None:
                yield match["key"], rule


def rejoined(lines: Sequence[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines that a terminal cut at its width, inside of words too, put together again; none if they do not look so.

    Several of the lines are then as long as the longest. Lines that begin alike are those of a log, and whole.
    """
    width = max(len(line) for _, line in lines)
    pairs = pairwise((*lines, (0, "")))
    is_cut = [len(line) == width and line[:HEAD] != after[:HEAD] for (_, line), (_, after) in pairs]
    if width < NARROWEST or sum(is_cut) < (1 if width in WIDTHS else 2):
        return
    begun: list[str] = []
    for (number, line), cut in zip(lines, is_cut, strict=True):
        begun.append(line)
        if not cut:
            yield number - len(begun) + 1, "".join(begun)
            begun = []


def uncoloured(text: str) -> str:
    """Without the escape sequences of a terminal and of HTML, frames of rich, and what torchrun writes before lines."""
    text = _ENTITY.sub(lambda entity: unescape(f"&{entity[1]};"), text)
    return _MARKS.sub("", text.replace("\r\n", "\n").translate(_FRAMES))


def unescaped(line: str, depth: int = MAX_DEPTH) -> str:
    """A line without escapes. It is escaped as a whole or not at all: a backslash may also be part of a path."""
    others = _ESCAPE.sub("", line).count("\\")  # names in an escaped text may have a few of their own
    if not depth or 4 * others >= line.count("\\") or _DRIVE.search(line):
        return line
    return "\n".join(unescaped(part, depth - 1) for part in uncoloured(_ESCAPE.sub(_meant, line)).split("\n"))


def _meant(match: re.Match[str]) -> str:
    sign, *codes = match.groups()
    if sign is not None:
        return _SIGNS.get(sign, sign)
    code = int(next(code for code in codes if code is not None), 16)
    # half of a pair is no character
    return match[0] if 0xD800 <= code < 0xE000 or code >= 0x110000 else chr(code)
