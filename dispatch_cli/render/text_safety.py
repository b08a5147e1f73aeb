"""Names and texts from files are data: nothing in them may reach a terminal as a command."""

from __future__ import annotations

import re

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")

_UNSAFE_IN_LINES = re.compile(_UNSAFE.pattern.replace("\x00-\x1f", "\x00-\x09\x0b-\x1f"))


def safe(text: str) -> str:
    """*text* with control, direction and invisible characters spelled out as escapes such as ``\\x1b``."""
    if text.isprintable():
        return text
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode("ascii"), text)


def safe_lines(text: str) -> str:
    """Like `safe`, but line breaks stay."""
    return "\n".join(safe(line) for line in text.split("\n")) if _UNSAFE_IN_LINES.search(text) else text
