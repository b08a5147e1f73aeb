"""What a search may mean that finds no name."""

from __future__ import annotations

from collections.abc import Sequence

from dispatch_cli.explore.fuzzy import MAX_QUERY, Matcher
from dispatch_cli.report.selection import select_names, similar_names

_MOST, _ALIKE = 8, 0.6
"""Names, without their overloads; how alike they are at least. With fewer letters in common, any name is near."""


def nearest(names: Sequence[str], query: str) -> tuple[list[int], str]:
    """The numbers of the names that a search may mean, best first, and what they are; none where nothing is near."""
    query = query[:MAX_QUERY].strip()
    if "*" in query or "?" in query:
        return Matcher([name.lower() for name in names]).find(query.lower()), "none; in another case:"
    numbers = {name: number for number, name in enumerate(names)}
    near = similar_names(names, ".".join(query.split()), _MOST, _ALIKE)
    found = (name for one in near for name in ([one] if one in numbers else select_names(names, one)))
    return [numbers[name] for name in dict.fromkeys(found)], "none; the nearest:"
