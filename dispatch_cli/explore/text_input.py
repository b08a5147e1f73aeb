"""A line to type in."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class TextInput(Input):
    """A line to type in, without a frame."""

    DEFAULT_CSS = """
    TextInput, TextInput:focus { border: none; height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+u", "clear_all", "Clear what is typed", show=False)]

    def action_clear_all(self) -> None:
        """Clear the input. textual's key takes away only what is before the cursor."""
        self.clear()
