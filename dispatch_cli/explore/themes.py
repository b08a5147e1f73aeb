"""The colours that the application can have."""

from __future__ import annotations

from textual.theme import BUILTIN_THEMES


def themes() -> list[str]:
    """The names of the themes."""
    return sorted(BUILTIN_THEMES)
