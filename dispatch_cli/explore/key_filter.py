"""Input of the keys that a table shows."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from dispatch_cli.explore.text_input import TextInput


class KeyFilter(TextInput):
    """Filter for the keys that are shown."""

    DEFAULT_CSS = "KeyFilter { background: $panel; }"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "Leave", tooltip="Show all keys, and back to the table"),
        Binding("enter,down", "leave(False)", "To the table", tooltip="From the filter to the table"),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="keys: a part of their names, or a glob")

    def action_leave(self, clear: bool) -> None:
        """Back to the table."""
        if clear:
            self.value = ""
        self.screen.query_one("#table-cells").focus()
