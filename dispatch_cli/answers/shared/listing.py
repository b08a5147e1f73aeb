"""Names in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def some_of(names: Sequence[str], most: int = 4) -> str:
    """Some of many names: all of a few, else the first ones and how many more there are."""
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} more"
