"""Base class of views of lines."""

from __future__ import annotations

from rich.style import Style
from textual.geometry import Size
from textual.scroll_view import ScrollView

FOCUSED_CURSOR = "$block-cursor-foreground on $block-cursor-background"
PLAIN_CURSOR, PLAIN_BLURRED = "bold reverse", "underline"
"""The same without colour, and where the view does not have the focus."""


class SizedScrollView(ScrollView):
    """A view of lines whose number changes often."""

    BLURRED_CURSOR = "$foreground on $panel"
    """The style of what the cursor is on where the view does not have the focus."""
    STYLED_BY_FOCUS = False
    """True if a rule of the application's CSS is about the focus of such a view."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(id=id, classes=classes)
        self._looks: dict[tuple[str, ...], Style] = {}
        self._scrolled_for: tuple[object, ...] = ()

    def sized(self) -> None:
        """Lay out what is shown for the size that the view has now."""
        raise NotImplementedError

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """textual's. The event comes only after a frame, which would be empty."""
        resized = super()._size_updated(size, virtual_size, container_size, layout)
        if resized:
            self.sized()
        return resized

    def _scroll_update(self, virtual_size: Size) -> None:
        """textual's. It is called whenever the screen is laid out, and would paint the scrollbars each time."""
        self._refresh_scrollbars()
        there = (virtual_size, self.container_size, self.scrollbars_enabled, self.scrollbar_size_vertical)
        if there != self._scrolled_for:
            self._scrolled_for = there
            super()._scroll_update(virtual_size)

    def on_resize(self) -> None:
        """A view that was hidden may have had the same size before."""
        self.sized()

    def resize_content(self, size: Size) -> None:
        """Set the size of what can be scrolled through. textual would lay out the whole screen for it.

        That is needed only where the view is as high as what is in it, up to a height that it may have.
        """
        if size == self.virtual_size:
            return
        if self.container_size:
            height, lines = self.styles.height, self.size.height
            is_as_high_as_may_be = self.virtual_size.height > lines and size.height > lines
            grows = height is not None and height.is_auto and size.height != lines and not is_as_high_as_may_be
            self.set_reactive(SizedScrollView.virtual_size, size)
            self._refresh_scrollbars()
            self._scroll_update(size)
            self.refresh(layout=grows)
        else:
            self.virtual_size = size

    # A component class would have its CSS worked out anew whenever the view is shown, hidden or focused.

    def look(self, *styles: str) -> Style:
        """The style of the view with others over it, such as ``bold $text-success``."""
        style = self._looks.get(styles)
        if style is None:
            whole = self.visual_style
            for text in styles:
                whole += self.app.stylesheet.parse_style(text)
            style = self._looks[styles] = whole.rich_style
        return style

    @property
    def cursor_style(self) -> str:
        """The style of what the cursor is on. Without colours of our own, the focus is seen by the text's style."""
        if not self.has_focus:
            return PLAIN_BLURRED if self.app.no_color or self.app.native_ansi_color else self.BLURRED_CURSOR
        if self.app.no_color:
            return PLAIN_CURSOR
        text_style = self.app.theme_variables["block-cursor-text-style"]
        return FOCUSED_CURSOR if text_style == "none" else f"{FOCUSED_CURSOR} {text_style}"

    def watch_has_focus(self, has_focus: bool) -> None:
        """textual's, which works out the CSS of the view and of its scrollbars anew."""
        if self.STYLED_BY_FOCUS:
            super().watch_has_focus(has_focus)

    def notify_style_update(self) -> None:
        """textual's: the theme has changed."""
        super().notify_style_update()
        self._looks.clear()
