"""What a search may mean that finds no name, or only names that have its letters here and there."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.explore.fuzzy import MAX_QUERY, Matcher
from dispatch_cli.report.selection import select_names, similar_names

_MOST, _ALIKE = 8, 0.6
"""Names, without their overloads; how alike they are at least. With fewer letters in common, any name is near."""
MISSPELT = 0.75
"""How alike a name is at least to one of four letters or more of which two changed places."""


def nearest(names: Sequence[str], query: str, alike: float = _ALIKE) -> tuple[list[int], str]:
    """The numbers of the names that a search may mean, best first, and what they are; none where nothing is near.

    alike: how alike they are at least, from 0 to 1.
    """
    query = query[:MAX_QUERY].strip()
    if "*" in query or "?" in query:
        return Matcher([name.lower() for name in names]).find(query.lower()), "in another case:"
    numbers = {name: number for number, name in enumerate(names)}
    near = similar_names(names, ".".join(query.split()), _MOST, alike)
    found = (name for one in near for name in ([one] if one in numbers else select_names(names, one)))
    return [numbers[name] for name in dict.fromkeys(found)], "the nearest:"
