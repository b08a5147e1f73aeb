"""A text in the place that there is for it."""

from __future__ import annotations

from textual.content import Content
from textual.geometry import Size
from textual.widgets import Static


def fitting(text: Content, width: int, lines: int) -> Content:
    """A text for so many lines; where there is no room for all of it, with a sign of that at the end."""
    wrapped = text.wrap(max(1, width))
    if len(wrapped) <= lines:
        return text
    *first, last = wrapped[:lines]
    return Content("\n").join([*first, Content.assemble(last.truncate(max(1, width - 2)), (" …", "bold"))])


class FittedText(Static):
    """A text as far as there is room for it. It is data: there is no markup."""

    def __init__(self, *, classes: str | None = None) -> None:
        super().__init__(classes=classes, markup=False)

    @property
    def _whole(self) -> Content:
        return self.content if isinstance(self.content, Content) else Content(str(self.content))

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002  (textual's)
        """textual's: the height that all of it would need."""
        return len(self._whole.wrap(width)) if width else 0

    def render(self) -> Content:
        """As much of the text as there is room for."""
        size = self.content_size
        return fitting(self._whole, size.width, max(1, size.height))
