"""The known names that a misspelt one may stand for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

MAX_COMPARED = 200
"""The characters of a word that are looked at."""


def similar(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.7) -> list[str]:
    """Up to *count* of the known names that look like *word*, best first; upper and lower case are one.

    cutoff: how alike they are at least, from 0 to 1.
    """
    from difflib import get_close_matches

    by_lower = {one.lower(): one for one in known}
    return [by_lower[one] for one in get_close_matches(word.lower()[:MAX_COMPARED], by_lower, count, cutoff)]


def suggestion(word: str, known: Iterable[str], count: int = 1, cutoff: float = 0.7) -> str | None:
    """``did you mean …?`` for the names that look like *word*, or None."""
    return did_you_mean(similar(word, known, count, cutoff))


def did_you_mean(names: Sequence[str]) -> str | None:
    """``did you mean …?``, or None where there are no names."""
    return f"did you mean {' or '.join(names)}?" if names else None
