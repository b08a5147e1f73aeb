"""Errors stay where they happen: a widget goes on after one, and the application shows it."""

from __future__ import annotations

from rich.style import Style
from textual.geometry import Size
from textual.message import Message
from textual.message_pump import MessagePump
from textual.scroll_view import ScrollView


class Contained(MessagePump):
    """A widget, screen or application whose message handlers may fail without ending the program.

    The first of its base classes. textual ends the loop of messages of whatever fails, and then the program.
    """

    async def _dispatch_message(self, message: Message) -> None:
        try:
            await super()._dispatch_message(message)
        except Exception as error:
            self.app.failed(error, self)  # type: ignore[attr-defined]


class SizedScrollView(ScrollView):
    """A view of lines whose number changes often."""

    _plain: Style | None = None

    def sized(self) -> None:
        """Lay out what is shown for the size that the view has now."""
        raise NotImplementedError

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        """textual's. The event comes only after a frame, which would be empty."""
        resized = super()._size_updated(size, virtual_size, container_size, layout)
        if resized:
            try:
                self.sized()
            except Exception as error:
                self.app.failed(error, self)  # type: ignore[attr-defined]
        return resized

    def on_resize(self) -> None:
        """A view that was hidden may have had the same size before."""
        self.sized()

    def resize_content(self, size: Size) -> None:
        """Set the size of what can be scrolled through. textual would lay out the whole screen for it."""
        if size == self.virtual_size:
            return
        if self.container_size:
            self.set_reactive(SizedScrollView.virtual_size, size)
            self._refresh_scrollbars()
            self._scroll_update(size)
            self.refresh()
        else:
            self.virtual_size = size

    @property
    def plain_style(self) -> Style:
        """The style of the widget; computed once for all of its lines."""
        if self._plain is None:
            self._plain = self.rich_style
        return self._plain

    def notify_style_update(self) -> None:
        """textual's: the theme or the focus has changed."""
        super().notify_style_update()
        self._plain = None
