"""A line to type in."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input

from dispatch_cli.explore.contained import Contained


class TextInput(Contained, Input):
    """A line to type in, without a frame."""

    DEFAULT_CSS = """
    TextInput, TextInput:focus { border: none; height: 1; padding: 0 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+u", "clear_all", "Clear what is typed", show=False)]

    def action_clear_all(self) -> None:
        """Nothing is typed. textual's key takes away only what is before the cursor."""
        self.clear()
