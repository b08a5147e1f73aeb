"""A question whose answer is typed."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from dispatch_cli.explore.text_input import TextInput


class Ask(ModalScreen["str | None"]):
    """A question; its result is what is typed, or None. first: what is there to begin with."""

    DEFAULT_CSS = """
    Ask { align: center middle; background: $background 60%; }
    Ask > Vertical { width: 80%; max-width: 70; height: auto; border: round $primary; background: $surface; }
    Ask Static { padding: 0 1; text-style: bold; }
    Ask TextInput { background: $boost; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "Leave")]

    def __init__(self, question: str, first: str) -> None:
        super().__init__()
        self._question, self._first = question, first

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static(self._question, markup=False)
            yield TextInput(self._first)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value.strip() or None)
