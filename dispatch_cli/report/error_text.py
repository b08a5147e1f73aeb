"""What PyTorch's texts say: which operator, at which key, and the dispatch table that some of them print.

The texts come out of logs, trackers and terminals: with prefixes and quote marks before each line, wrapped, escaped, in
colour. Nothing here believes them; names are data, and lengths are bounded. How the texts read is a table:
`dispatch_cli.report.messages`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.report.error_chain import ChainPlace, chain_places
from dispatch_cli.report.error_frames import with_frames
from dispatch_cli.report.error_lines import DumpLine, StateLine, dump_lines, state_lines
from dispatch_cli.report.error_matches import Match, marks, matches
from dispatch_cli.report.messages.kinds import TextKind
from dispatch_cli.report.messages.table import MESSAGES
from dispatch_cli.report.messages.template import GAP, NO_GAP, QUOTE
from dispatch_cli.report.pasted_text import plain, rejoined, uncoloured, without_heads

MAX_CHARACTERS = 8 << 20
"""Characters of a text that is searched; PyTorch's longest errors are a thousandth of that."""
LONGEST_KNOWN = 1000
"""Characters of a text for which is kept what can be read in it."""
MAX_REARRANGED = 1 << 20
"""Characters of a text of which the lines are put together again; longer ones are read as they are."""
MAX_ERRORS = 20
"""Different errors that are taken from one text."""
MAX_LIST = 40_000
"""Characters after an error in which its list of keys is looked for."""
MAX_TABLE = 600_000
"""Characters after an error in which its table is looked for; a whole one has some 20,000."""


class ErrorText(NamedTuple):
    """An error or a warning found in a text.

    operator, key: None where the text names none. line: where it begins, 1-based. dump: the dispatch table that it
    prints, by key; empty where it prints none. available: the keys that it lists as available; None where it lists
    none. state: the registrations that it prints, newest first. details: what else it names, by the names of
    `messages.template.HOLES`. available_cut: the text ends inside of the list. place: among errors that came of one
    another.
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
    place: ChainPlace = ChainPlace()


_HARD_BREAK = re.compile(r"\n[ \t>|]{0,40}")
_AVAILABLE = re.compile(r"(?:available for these backends: |Available functions are )\[([\w, ]{0,10000})(\]?)")
_CODE = re.compile(rf"File {QUOTE}[^\n]{{1,500}}?{QUOTE}, line \d{{1,9}}(?:, in [^\n]{{0,500}})?\n([^\n]*)")
"""A frame of a traceback: the line that was running may have the words of a message, as ``raise ValueError("…")``."""
_BREAKS = re.compile(r"[\s>|]+")


def find_errors(text: str) -> list[ErrorText]:
    """The errors in a text, the one to explain first, then the warnings; each operator and key once.

    Of errors that came of one another, the one that the program ended with comes first, or its direct cause. What
    only tells that another one happened comes after that; what names no operator is left out where another text of its
    kind there does. Lines that a terminal or a log broke are put together again.
    """
    text = uncoloured(text[:MAX_CHARACTERS])
    found, length = _read(text, GAP)
    if "\n" in text and len(text) <= MAX_REARRANGED:
        for other in (without_heads(text), rejoined(text)):
            errors, longer = ([], 0) if other is None else _read(other.text, GAP)
            if other is not None and (len(errors), longer) > (len(found), length):
                found, length = [one._replace(line=other.begins[one.line - 1]) for one in errors], longer
        if not found:
            found = [one._replace(line=1) for one in _read(_HARD_BREAK.sub("", text), NO_GAP)[0]]
    named = {(one.kind, one.place.chain) for one in found if one.operator is not None}
    return sorted((one for one in found if one.operator or (one.kind, one.place.chain) not in named), key=_turn)


def lines_of_table(text: str) -> int:
    """How many lines of a dispatch table a text has, whatever error it belongs to."""
    return sum(1 for _ in dump_lines(plain(text[:MAX_CHARACTERS], _worth, marks).text))


def _turn(error: ErrorText) -> tuple[object, ...]:
    """By what errors are sorted; where it is equal, they stay in the order of the text."""
    message = MESSAGES[error.kind]
    chain, part, step = error.place
    return message.warning, chain, part, step, message.wraps


def _worth(text: str) -> int:
    """How many errors, lines of a table and registrations can be read in a text."""
    return (_known_worth if len(text) <= LONGEST_KNOWN else _known_worth.__wrapped__)(text)


@lru_cache(1 << 12)
def _known_worth(text: str) -> int:
    """`_worth`, kept: a log is read in several ways, and many of its lines are alike."""
    return sum(1 for found in (matches(text, GAP), dump_lines(text), state_lines(text)) for _ in found)


def _read(pasted: str, gap: str) -> tuple[list[ErrorText], int]:
    """The errors of a text in its order, and how many characters of it were understood.

    gap: what may stand between words.
    """
    shown = plain(pasted, _worth, marks)
    text = shown.text
    found = [*with_frames(text, _apart(text, gap))]
    starts = [match.start for match in found] + [len(text)]
    places = chain_places(text, starts)
    errors: dict[tuple[object, ...], ErrorText] = {}
    for position, match in enumerate(found):
        # a slot that is told of in several ways is one error
        kind, _, end, operator, key, details = match
        told = operator is not None and not MESSAGES[kind].means
        what = (operator, key) if told else (kind, operator, key, details)
        if what not in errors:
            rest = text[end : min(starts[position + 1], end + MAX_TABLE)]
            available, cut = _available(rest)
            table = dict(dump_lines(rest)), available, tuple(state_lines(rest))
            line = shown.line_at(match.start)
            errors[what] = ErrorText(kind, operator, key, line, *table, details, cut, places[position])
            if len(errors) == MAX_ERRORS:
                break
    return [*errors.values()], sum(match.end - match.start for match in found)


def _apart(text: str, gap: str) -> list[Match]:
    """The matches in their order, but for those in the code of a traceback; of two that overlap the longer
    one, and of two as long the one that leaves less open."""
    code = [found.span(1) for found in _CODE.finditer(text)]
    begins = [start for start, _ in code]
    found: list[Match] = []
    for match in sorted(matches(text, gap), key=lambda one: (one.start, -one.end, len(one.details))):
        at = bisect_right(begins, match.start) - 1
        is_code = at >= 0 and match.start < code[at][1]
        if not is_code and (not found or match.start >= found[-1].end):
            found.append(match)
    return found


def _available(rest: str) -> tuple[tuple[str, ...] | None, bool]:
    """The keys that are listed after an error, and whether the list is cut."""
    listed = _AVAILABLE.search(_BREAKS.sub(" ", rest[:MAX_LIST]))
    if listed is None:
        return None, False
    names = tuple(one.strip() for one in listed[1].split(",") if one.strip())
    # the last name of a cut list may be half of one
    return (names, False) if listed[2] else (names[:-1], True)
