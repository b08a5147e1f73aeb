"""Names that a search may mean that finds no name, or only names that have its letters here and there."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.answers.shared.nearest_names import ALIKE, nearest_names
from dispatch_cli.explore.fuzzy import MAX_QUERY, Matcher, words_of

MISSPELT = 0.75
"""Least likeness of a name to one of four letters or more of which two changed places."""


def nearest(names: Sequence[str], query: str, alike: float = ALIKE) -> tuple[list[int], str]:
    """The numbers of the names that a search may mean, best first, and what they are; none where nothing is near.

    alike: how alike they are at least, from 0 to 1.
    """
    query = query[:MAX_QUERY].strip()
    if "*" in query or "?" in query:
        return Matcher([name.lower() for name in names]).find(query.lower()), "in another case:"
    numbers = {name: number for number, name in enumerate(names)}
    near = nearest_names(names, ".".join(words_of(query)), alike)
    return [numbers[name] for match in near for name in match.names], "the nearest:"
