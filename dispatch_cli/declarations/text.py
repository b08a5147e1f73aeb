"""Wording that the other modules share: quoting, and parts of lists."""

from __future__ import annotations

from collections.abc import Iterator

COMMENT_MARK = "dispatch-cli:"
"""Start of what a comment says to dispatch-cli."""
MAX_QUOTED = 60
"""Characters of a text that a message quotes."""


def quoted(text: str) -> str:
    """*text* as a message shows it: in quotes, control characters escaped, cut when it is long."""
    return repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…")


def parts(text: str) -> Iterator[tuple[str, int]]:
    """The parts of a text that are separated by commas, without spaces around them, and where each begins."""
    offset = 0
    for part in text.split(","):
        yield part.strip(), offset + len(part) - len(part.lstrip())
        offset += len(part) + 1


def printable(text: str) -> str:
    """*text* with every character escaped that is not for printing, so that a dump can hold it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)
