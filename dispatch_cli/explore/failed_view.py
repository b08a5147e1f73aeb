"""View in the place of one that failed."""

from __future__ import annotations

import traceback

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from dispatch_cli.explore.contained import Contained
from dispatch_cli.render.text_safety import safe_lines

_FRAMES = 4
"""Calls that an error shows, the innermost ones."""


class FailedView(Contained, VerticalScroll):
    """View in the place of one that failed."""

    DEFAULT_CSS = "FailedView { padding: 1 2; & > Static { width: 1fr; } }"
    BINDINGS = [Binding("r", "again", "Try again")]  # noqa: RUF012  (textual's way)
    can_focus = True

    class Again(Message):
        """The view is wanted once more."""

        def __init__(self, view: FailedView) -> None:
            super().__init__()
            self.view = view

    def __init__(self, title: str, error: BaseException) -> None:
        super().__init__()
        self.title = title
        self.error = error

    def compose(self) -> ComposeResult:
        text = str(self.error)[:2_000]
        where = traceback.extract_tb(self.error.__traceback__)[-_FRAMES:]
        calls = "\n".join(
            f"  {frame.filename.rpartition('dispatch_cli')[2]}:{frame.lineno} in {frame.name}" for frame in where
        )
        yield Static(
            Content.assemble(
                (f"{self.title} cannot be shown\n\n", "bold $text-error"),
                f"{type(self.error).__name__}: {safe_lines(text)}\n\n",
                "This is a bug in dispatch-cli. The other views go on; r tries this one again.\n\n",
                (safe_lines(calls), "$text-muted"),
            ),
            markup=False,
        )

    def action_again(self) -> None:
        self.post_message(self.Again(self))
