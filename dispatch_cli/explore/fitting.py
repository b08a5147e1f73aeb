"""A text in the place that there is for it."""

from __future__ import annotations

from textual.content import Content


def fitting(text: Content, width: int, lines: int) -> Content:
    """A text for so many lines; where there is no room for all of it, with a sign of that at the end."""
    wrapped = text.wrap(max(1, width))
    if len(wrapped) <= lines:
        return text
    *first, last = wrapped[:lines]
    return Content("\n").join([*first, Content.assemble(last.truncate(max(1, width - 2)), (" …", "bold"))])
