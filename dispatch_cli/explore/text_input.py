"""A line to type in."""

from __future__ import annotations

from typing import ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.events import Key
from textual.widgets import Input

from dispatch_cli.explore.contained import Contained


class TextInput(Contained, Input):
    """A line to type in, without a frame."""

    DEFAULT_CSS = """
    TextInput, TextInput:focus { border: none; height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+u", "clear_all", "Clear what is typed", show=False)]

    async def _on_key(self, event: Key) -> None:
        """textual's. What a key does is done before the letters behind it are typed; textual would do these first."""
        if event.is_printable:
            return
        active = self.screen.active_bindings.get(event.key)
        if active is None or not active.enabled or isinstance(active.node, App):
            return
        if await self.app.run_action(active.binding.action, active.node):
            event.stop()
            event.prevent_default()

    def action_clear_all(self) -> None:
        """Clear the input. textual's key takes away only what is before the cursor."""
        self.clear()
