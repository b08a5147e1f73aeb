"""The errors and warnings in a pasted text: operator, key, and the dispatch table that some of them print.

Texts come out of logs, trackers and terminals: with prefixes and quote marks before each line, wrapped, escaped, in
colour. Nothing here believes them: names are data, and lengths are bounded. The texts themselves are a table,
`messages`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice, pairwise
from typing import NamedTuple

from dispatch_cli.answers.errors.matches import Match, matches
from dispatch_cli.answers.errors.messages import MESSAGES
from dispatch_cli.answers.errors.template import GAP, NO_GAP, QUOTE
from dispatch_cli.engine.rules import Rule

MAX_DEPTH = 4
"""Escapes of escapes that are undone: JSON in a log that is JSON itself is escaped twice."""
NARROWEST = 40
"""Columns of the narrowest terminal whose cut lines are put together again."""
WIDTHS = frozenset((80, 100, 120, 132))
"""Columns that terminals often have: there, one line of that length is enough."""
HEAD = 5
"""Characters of a line that tell lines of a log, which begin alike."""
_COLOR = re.compile(r"\x1b\[[0-9;]{0,20}[A-Za-z]")
_ESCAPE = re.compile(r"\\(?:([\\/'\"nrtbf])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U(000[0-9A-Fa-f]{5}))")
_DRIVE = re.compile(r"(?<![\\\w])[A-Za-z]:\\(?!\\)")
"""A path of Windows, ``C:\\new``; where it is escaped, it has two backslashes."""
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_ENTITY = re.compile(r"&(?:#39|#x27|apos|quot|lt|gt);")
_ENTITIES = {"&#39;": "'", "&#x27;": "'", "&apos;": "'", "&quot;": '"', "&lt;": "<", "&gt;": ">"}
MAX_CHARACTERS = 8 << 20
"""Characters of a text that is searched; PyTorch's longest errors are a thousandth of that."""
MAX_REARRANGED = 1 << 20
"""Characters of a text of which the lines are put together again; longer ones are read as they are."""
MAX_ERRORS = 20
"""Different errors that are taken from one text."""
MAX_LIST = 40_000
"""Characters after an error in which its list of keys is looked for."""
MAX_TABLE = 600_000
"""Characters after an error in which its table is looked for; a whole one has some 20,000."""
MAX_LINE = 4000
"""Characters of a line of a dump."""
MAX_LINES = 1000
"""Lines of a dump; a whole table has some 140."""


class DumpLine(NamedTuple):
    """A line of a printed dispatch table."""

    kernel: str
    fallthrough: bool
    rule: Rule


class ErrorText(NamedTuple):
    """An error or a warning found in a text.

    operator, key: None where the text names none. line: where it begins, 1-based. dump: the dispatch table that it
    prints, by key; empty where it prints none. available: the keys that it lists as available; None where it lists
    none. details: what else it names, by the names of
    `template.HOLES`. available_cut: the text ends inside of the list.
    """

    kind: str
    operator: str | None
    key: str | None
    line: int
    dump: dict[str, DumpLine]
    available: tuple[str, ...] | None
    details: tuple[tuple[str, str], ...] = ()
    available_cut: bool = False

    def detail(self, name: str) -> str | None:
        """The value of a hole that is neither the operator nor the key; None where the text has none."""
        return dict(self.details).get(name)


class _Reading(NamedTuple):
    """One way to read a text: its errors in order, characters understood, and lines of tables."""

    errors: list[ErrorText]
    understood: int

    def worth(self) -> tuple[int, int, int]:
        """Readings with more errors are better, then those that understand more."""
        shown = sum(len(error.dump) + len(error.available or ()) for error in self.errors)
        return len(self.errors), self.understood, shown


NO_ERROR = re.compile(r"(?m)^(?:[^\n]{0,200}?(?:\b(?:INFO|DEBUG|PASSED|[IDV]\d{4} \d\d:\d\d)\b|\bnote:)|[ \t]*-- ).*$")
"""Lines of a log that tell of no error, whatever words they have."""
_HARD_BREAK = re.compile(r"\n[ \t>|]{0,40}")
_AVAILABLE = re.compile(r"(?:available for these backends: |Available functions are )\[([\w, ]{0,10000})(\]?)")
_RAISED = r"[^\n('\"]{0,120}?\b[A-Za-z_][\w.]{0,200}(?:Error|Exception|Warning): "
"""Begins the text of an exception, which follows a frame directly where Python has no source (``python -c``)."""
_NAMED = re.compile(r"(?:Error|Exception|Warning|Unsupported|Failed):")
_ANOTHER = re.compile(r"\b(?:tensorflow|jax(?:lib)?|xgboost|cupy\w*|pandas)\.[\w.]*\w:|\[?ONNXRuntimeError\b")
_PYTORCHS = re.compile(r"\btorch[./\\]|\ba[tT]en::")
_CODE = re.compile(
    rf"File {QUOTE}[^\n]{{1,500}}?{QUOTE}, line \d{{1,9}}(?:, in [^\n]{{0,500}})?\n(?!{_RAISED})([^\n]*)"
)
"""A frame of a traceback: the line that was running may have the words of a message, as ``raise ValueError("…")``."""
_HANDLING = "During handling of the above exception"
"""Stands between two errors of which the second ended the program; it need not have the same cause."""
_DIRECT_CAUSE = "direct cause of the following exception"
_TRACEBACK = "Traceback (most recent call last)"
_NOT_LOADED = frozenset(("undefined-symbol", "no-library-file"))
"""Kinds that are the cause of a later error about an operator that is not defined."""
_BREAKS = re.compile(r"[\s>|]+")
_LINE_HEAD = r"\b(?P<key>[A-Z]\w{1,60})(?:\[alias\])?(?P<inactive> \(inactive\))?: "
_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>\S.*)")
_REGISTERED_LINE = re.compile(rf"{_LINE_HEAD}(?P<rest>(?:fallthrough )?registered at .*)")
_CLOSING = " \t\r'\"`)}"
"""Signs after the last line of a table that was quoted: ``…[kernel]")``."""
_FALLTHROUGH = "fallthrough "
_RULES = {f"{rule.dump_text}]": rule for rule in Rule}


def find_errors(text: str) -> list[ErrorText]:
    """The errors in a text, the one to explain first, then the warnings; each operator and key once.

    What names no operator is left out where another text of its kind does. Lines that a terminal or a log broke are put
    together again.
    """
    text = uncoloured(text[:MAX_CHARACTERS])
    best = _read(text, GAP)
    if "\n" in text and len(text) <= MAX_REARRANGED:
        other = rejoined(text)
        reading = None if other is None else _read(other.text, GAP)
        if other is not None and reading is not None and reading.worth() > best.worth():
            best = reading._replace(
                errors=[error._replace(line=other.pasted_line(error.line)) for error in reading.errors]
            )
        if all(MESSAGES[error.kind].general for error in best.errors):
            # a line behind the name of an exception may be part of its text
            exception = _NAMED.search(text)
            raised = len(text) if exception is None else text.rfind("\n", 0, exception.start()) + 1
            joined = _read(_HARD_BREAK.sub("", NO_ERROR.sub("", text[:raised]) + text[raised:]), NO_GAP)
            if joined.errors:
                best = joined._replace(errors=[error._replace(line=1) for error in joined.errors])
    named = {error.kind for error in best.errors if error.operator is not None}
    errors = [error for error in best.errors if error.operator or error.kind not in named]
    known = [error for error in errors if not MESSAGES[error.kind].general]
    errors = errors if all(map(_is_warning, known)) else known
    handled = max(_handled_to(text), _earlier_to(text))
    last = {error.kind for error in errors if error.line > handled and not _is_warning(error)}
    causes = _NOT_LOADED if last == {"not-defined"} else frozenset()
    return sorted(errors, key=lambda error: (_is_warning(error), error.line <= handled and error.kind not in causes))


def _handled_to(text: str) -> int:
    """The line up to which errors were handled: one that came after them ended the program."""
    return text.count("\n", 0, text.rfind(_HANDLING)) + 1 if _HANDLING in text else 0


def _earlier_to(text: str) -> int:
    """The line before the last traceback, unless that is of the effect of an error before it."""
    start = text.rfind(_TRACEBACK)
    before = text.rfind(_TRACEBACK, 0, max(start, 0))
    if before < 0 or _DIRECT_CAUSE in text[before:start]:
        return 0
    return text.count("\n", 0, start) + 1


def is_handled(text: str, error: ErrorText) -> bool:
    """True for an error that was handled when another one was raised, of which no sentence is known."""
    if _is_warning(error) or error.line > _handled_to(text):
        return False
    return not any(not _is_warning(later) for later in find_errors(text[text.rfind(_HANDLING) :]))


def lines_of_table(text: str) -> int:
    """Number of lines of a dispatch table in a text, whatever error they belong to."""
    return sum(1 for _ in dump_lines(plain(text[:MAX_CHARACTERS]).text))


def _is_warning(error: ErrorText) -> bool:
    """True for a warning; a call for which vmap falls back to a loop is warned about, and succeeds."""
    return MESSAGES[error.kind].warning or error.detail("loops") is not None


def _read(pasted: str, gap: str) -> _Reading:
    """One reading of a text. gap: what may stand between words."""
    shown = plain(pasted)
    text = shown.text
    ordered = _apart(text, gap)
    starts = [match.start for match in ordered] + [len(text)]
    errors: dict[tuple[object, ...], ErrorText] = {}
    for position, match in enumerate(ordered):
        kind, start, end, _, operator, key, details = match
        # texts of several kinds about one slot are one error
        about_slot = operator is not None and MESSAGES[kind].rules
        what = (operator, key or MESSAGES[kind].key) if about_slot else (kind, operator, key, details)
        if what not in errors:
            rest = text[end : min(starts[position + 1], end + MAX_TABLE)]
            available, cut = _available(rest)
            table = dict(dump_lines(rest)), available
            errors[what] = ErrorText(kind, operator, key, shown.line_at(start), *table, details, cut)
            if len(errors) == MAX_ERRORS:
                break
    return _Reading([*errors.values()], sum(match.length for match in ordered))


def _apart(text: str, gap: str) -> list[Match]:
    """The matches in their order, without those in the code of a traceback and in lines that tell of no error.

    Of two that overlap the longer one is taken, and of two as long the one that leaves less open.
    """
    code = [frame.span(1) for frame in _CODE.finditer(text)]
    begins = [start for start, _ in code]
    separate: list[Match] = []
    for match in sorted(matches(text, gap), key=_precedence):
        at = bisect_right(begins, match.start) - 1
        is_code = at >= 0 and match.start < code[at][1]
        if not (is_code or (gap == GAP and _is_logged(text, match)) or _is_of_another(text, match)) and (
            not separate or match.start >= separate[-1].end
        ):
            separate.append(match)
    return separate


def _is_logged(text: str, match: Match) -> bool:
    """True in a line that tells of no error, and names no exception before the match."""
    start = match.end - match.length
    begin = text.rfind("\n", 0, start) + 1
    return bool(NO_ERROR.match(text, begin)) and not _NAMED.search(text, max(begin, start - 300), start)


def _is_of_another(text: str, match: Match) -> bool:
    """True for an exception of another package, and for a text of Python without a name of PyTorch anywhere near."""
    start = match.end - match.length
    if _ANOTHER.search(text, max(text.rfind("\n", 0, start) + 1, start - 300), start):
        return True
    needed = any(name == "near_pytorch" for name, _ in match.details)
    return needed and not _PYTORCHS.search(text, max(start - MAX_LINE, 0), match.end + MAX_LINE)


def _precedence(match: Match) -> tuple[int, int, int, int]:
    flags = sum(not value for _, value in match.details)
    return match.start, -match.end, len(match.details) - flags, -flags


def _available(rest: str) -> tuple[tuple[str, ...] | None, bool]:
    """The keys that are listed after an error, and whether the list is cut."""
    listed = _AVAILABLE.search(_BREAKS.sub(" ", rest[:MAX_LIST]))
    if listed is None:
        return None, False
    # a terminal breaks names, too: inside of one there is no space
    names = tuple(name.replace(" ", "") for name in listed[1].split(",") if name.strip())
    # the last name of a cut list may be half of one
    return (names, False) if listed[2] else (names[:-1], True)


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


class Plain(NamedTuple):
    """A text with other lines than the pasted one. ends: the last line of *text* that each pasted line reaches."""

    text: str
    ends: tuple[int, ...]

    def line_at(self, offset: int) -> int:
        """The line of the pasted text, 1-based, that holds what is at *offset* of this one."""
        return self.pasted_line(self.text.count("\n", 0, offset) + 1)

    def pasted_line(self, number: int) -> int:
        """The first line of the pasted text that reaches a line of this one, both 1-based."""
        return bisect_left(self.ends, number) + 1


def plain(text: str) -> Plain:
    """Without colours and escapes, so that quotes and line breaks are what they stand for."""
    text = uncoloured(text)
    lines = [_unescaped(line, MAX_DEPTH) for line in text.split("\n")]
    text = "\n".join(lines)
    text = _ENTITY.sub(lambda match: _ENTITIES[match[0]], text) if "&" in text else text
    return Plain(text, tuple(accumulate(line.count("\n") + 1 for line in lines)))


def rejoined(text: str) -> Plain | None:
    """A text that a terminal cut at its width, inside of words too, with the lines put together again.

    None where the text does not look cut so: several of its lines are then as long as the longest. Lines that begin
    alike are those of a log, and whole.
    """
    lines = text.split("\n")
    width = max(map(len, lines))
    is_cut = [len(line) == width and line[:HEAD] != after[:HEAD] for line, after in pairwise((*lines, ""))]
    if width < NARROWEST or sum(is_cut) < (1 if width in WIDTHS else 2):
        return None
    joined = "".join(line if cut else f"{line}\n" for line, cut in zip(lines, is_cut, strict=True))
    return Plain(joined, tuple(accumulate((1, *(not cut for cut in is_cut[:-1])))))


def uncoloured(text: str) -> str:
    """Without the escape sequences of a terminal."""
    return _COLOR.sub("", text.replace("\r\n", "\n"))


def _unescaped(line: str, depth: int) -> str:
    """A line without escapes. It is escaped as a whole or not at all: a backslash may also be part of a path."""
    others = _ESCAPE.sub("", line).count("\\")  # names in an escaped text may have a few of their own
    if not depth or 4 * others >= line.count("\\") or _DRIVE.search(line):
        return line
    return "\n".join(_unescaped(part, depth - 1) for part in uncoloured(_ESCAPE.sub(_meant, line)).split("\n"))


def _meant(match: re.Match[str]) -> str:
    sign, *codes = match.groups()
    if sign is not None:
        return _SIGNS.get(sign, sign)
    code = int(next(code for code in codes if code is not None), 16)
    # half of a pair is no character
    return match[0] if 0xD800 <= code < 0xE000 or code >= 0x110000 else chr(code)
