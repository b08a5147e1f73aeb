"""View in the place of one that failed."""

from __future__ import annotations

import traceback

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from dispatch_cli.render.text_safety import safe_lines

_FRAMES = 4
"""Calls that an error shows, the innermost ones."""


class FailedView(VerticalScroll):
    """View in the place of one that failed."""

    DEFAULT_CSS = "FailedView { padding: 1 2; & > Static { width: 1fr; } }"
    can_focus = True

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
                "This is a bug in dispatch-cli. The other views go on.\n\n",
                (safe_lines(calls), "$text-muted"),
            ),
            markup=False,
        )
