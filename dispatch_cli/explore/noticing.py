"""Notices at the bottom: each goes with the next key, or after some seconds."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING

from textual.app import App
from textual.events import Event, Key

from dispatch_cli.render.text_safety import safe_lines

if TYPE_CHECKING:
    from textual.notifications import SeverityLevel

SEEN = 1.0
"""Seconds for which a notice stays, whatever is pressed."""


class Noticing(App[None]):
    """An application with notices."""

    def notify(
        self,
        message: str,
        *,
        title: str = "",
        severity: SeverityLevel = "information",
        timeout: float | None = None,
        markup: bool = True,  # noqa: ARG002  (what a widget says if it is not asked)
    ) -> None:
        """textual's. Names and texts of files can be in any message: it is never markup, and safe to print."""
        text = safe_lines(message)
        for same in [notice for notice in self._notifications if (notice.message, notice.title) == (text, title)]:
            self._unnotify(same, refresh=False)
        super().notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    async def on_event(self, event: Event) -> None:
        """textual's. Each key takes away the notices of those before."""
        if isinstance(event, Key):
            for old in [notice for notice in self._notifications if time() - notice.raised_at > SEEN]:
                self._unnotify(old)
        await super().on_event(event)
