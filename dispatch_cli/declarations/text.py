"""Wording that the other modules share: quoting and suggestions."""

from __future__ import annotations

from collections.abc import Iterable

from dispatch_cli.declarations.limits import MAX_QUOTED


def quoted(text: str) -> str:
    """*text* as a message shows it: in quotes, control characters escaped, cut when it is long."""
    return repr(text if len(text) <= MAX_QUOTED else f"{text[:MAX_QUOTED]}…")


def printable(text: str) -> str:
    """*text* with every character escaped that is not for printing, so that a dump can hold it."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def suggestion(word: str, candidates: Iterable[str]) -> str | None:
    """``did you mean …?`` for the candidate closest to *word*, or None."""
    found = closest(word, candidates)
    return f"did you mean {found}?" if found is not None else None


def closest(word: str, candidates: Iterable[str]) -> str | None:
    """The candidate that *word* most likely stands for: the same in another case, or one that looks like it."""
    if len(word) > MAX_QUOTED:
        return None
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    if word.lower() in by_lower:
        return by_lower[word.lower()]
    from difflib import get_close_matches

    found = get_close_matches(word.lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[found[0]] if found else None
