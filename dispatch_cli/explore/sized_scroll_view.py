"""Base class of views of lines."""

from __future__ import annotations

from rich.style import Style
from textual.geometry import Size
from textual.reactive import Reactive
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
    # textual would lay out and paint the whole screen for it
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002  (textual's name)
        super().__init__(id=id, classes=classes)
        self._looks: dict[tuple[str, ...], Style] = {}

    def sized(self) -> None:
        """Lay out what is shown for the size that the view has now."""
        raise NotImplementedError

    def watch_virtual_size(self, size: Size) -> None:
        """Fit the scrollbars; the screen is laid out anew only where that can move something."""
        height = self.styles.height
        is_wider = size.width > self.scrollable_content_region.width
        if (height is not None and height.is_auto) or is_wider != self.show_horizontal_scrollbar:
            self.refresh(layout=True)
            return
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.window_virtual_size = size.height
        if self.show_horizontal_scrollbar:
            self.horizontal_scrollbar.window_virtual_size = size.width
        self.scroll_x, self.scroll_y = self.scroll_x, self.scroll_y  # textual keeps them within the size

    def on_resize(self) -> None:
        """textual's."""
        self.sized()

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
