"""Names and texts from files are data: nothing in them may reach a terminal as a command."""

from __future__ import annotations

import re

from dispatch_cli.model.quoting import CONTROL, UNSEEN

_UNSAFE = f"[\t\n{CONTROL}{UNSEEN}]"
"""Compiled when it is needed: most texts are plain."""

UNENCODABLE = "backslashreplace"
"""Treatment of characters that the output cannot have: file names that are not text, signs in a narrow encoding."""


def safe(text: str) -> str:
    """*text* with control, direction and invisible characters spelled out as escapes such as ``\\x1b``."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, lambda match: _escaped(match[0]), text)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def safe_lines(text: str) -> str:
    """Like `safe`, but line breaks stay."""
    return "\n".join(map(safe, text.split("\n")))
