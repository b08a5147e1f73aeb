"""Texts in quotes, in messages and in YAML; the characters that command a terminal, or that nobody sees."""

from __future__ import annotations

import json
import re

MAX_QUOTED = 60
"""Characters of a text that a message quotes."""
CONTROL = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""Characters that a text of several lines cannot have; the inside of a class of a regular expression."""
_FORMATTING = (
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u2028\u2029\ud800-\udfff\ufff9-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f"
)
_IGNORABLE = (
    "\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_NO_CHARACTERS = "\ufdd0-\ufdef" + "".join(
    f"{chr(plane + 0xFFFE)}{chr(plane + 0xFFFF)}" for plane in range(0, 0x110000, 0x10000)
)
UNSEEN = _FORMATTING + _IGNORABLE + _NO_CHARACTERS
"""Unseen characters, as in `CONTROL`: those of the categories Cf (those that change direction are among them), Cs, Zl
and Zp, those with the property Default_Ignorable_Code_Point, which is about what has no glyph (variation selectors,
fillers, tags), and the noncharacters, which no text has and HTML forbids. From the Unicode Character Database, 16.0."""
HARMFUL = f"(?![\t\n -~])[{CONTROL}{UNSEEN}]"
"""A regular expression for one of them. What most texts consist of is ruled out first: the class alone takes five times
as long, because it goes through all its ranges for every character."""
_ASCII_CONTROL = tuple(sign for sign in map(chr, range(128)) if re.match(f"[{CONTROL}]", sign))
_PLAIN = re.compile(r"[A-Za-z_][\w.]*(?:::?[A-Za-z_][\w.]*)*", re.ASCII)
_WORDS = frozenset({"fallthrough", "true", "false", "yes", "no", "on", "off", "y", "n", "null", "none"})
"""Texts that mean something else where they are not quoted."""
_MARK = re.compile(r"##(?=[\w.-]{0,40}\[)")
"""Start of a command of a CI system anywhere in a line: ``##[error]``, ``##vso[…]``, ``##teamcity[…]``."""


def quoted(text: str) -> str:
    """*text* as a message shows it: in quotes, control characters escaped, cut when it is long."""
    return repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…")


def printable(text: str) -> str:
    """*text* with every character escaped that is not for printing, so that a dump can hold it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def double_quoted(text: str) -> str:
    """*text* in double quotes, which YAML reads as it was; so does JSON, but for signs beyond U+FFFF."""
    return re.sub(HARMFUL, lambda match: _code(match, wide=True), _unmarked(json.dumps(text, ensure_ascii=False)))


def scalar(text: str) -> str:
    """A text as YAML: without quotes where it can be nothing else."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else double_quoted(text)


def has_harmful(text: str) -> bool:
    """True if a text has a character that commands a terminal, or that nobody sees."""
    if text.isascii():
        # searching for one character after the other is 80 times as fast as a regular expression
        return any(map(text.__contains__, _ASCII_CONTROL))
    return re.search(HARMFUL, text) is not None


def escaped(text: str) -> str:
    """JSON with escapes for what is harmful in the texts in it."""
    text = _unmarked(text)
    return re.sub(HARMFUL, _code, text) if has_harmful(text) else text


def _unmarked(text: str) -> str:
    return _MARK.sub(r"#\\u0023", text) if "##" in text else text


def _code(match: re.Match[str], wide: bool = False) -> str:
    """A sign as an escape. wide: as YAML has those beyond U+FFFF, and not as a pair."""
    number = ord(match[0])
    if number > 0xFFFF and not wide:
        return json.dumps(match[0])[1:-1]
    return f"\\U{number:08x}" if number > 0xFFFF else f"\\u{number:04x}"
