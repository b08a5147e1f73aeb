"""Where it is typed which keys a table shows."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import Input


class KeyFilter(Input):
    """Which keys are shown."""

    DEFAULT_CSS = """
    KeyFilter { border: none; height: 1; padding: 0 1; background: $panel; }
    KeyFilter:focus { border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave(True)", "All keys", show=False),
        Binding("down,enter", "leave(False)", "To the table", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="keys: a part of their names, or a glob")

    def action_leave(self, clear: bool) -> None:
        """Back to the table."""
        if clear:
            self.value = ""
        self.screen.query_one("#table-cells").focus()
