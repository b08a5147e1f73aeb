"""Names and texts from files are data: nothing in them may reach a terminal as a command."""

from __future__ import annotations

from unicodedata import category

_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Control, format (direction is among it), surrogate, line separator, paragraph separator."""

UNENCODABLE = "backslashreplace"
"""What becomes of characters that the output cannot have: file names that are not text, signs in a narrow encoding."""


def safe(text: str) -> str:
    """*text* with control, direction and invisible characters spelled out as escapes such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(_escaped(sign) if category(sign) in _UNSAFE else sign for sign in text)


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape", "surrogatepass").decode("ascii")


def safe_lines(text: str) -> str:
    """Like `safe`, but line breaks stay."""
    return "\n".join(map(safe, text.split("\n")))
