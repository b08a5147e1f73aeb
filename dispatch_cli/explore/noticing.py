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

    _noticed: float | None = None
    """Time of the last notice; None where there is none that a key takes away."""
    _last = ("", "")
    """Text and title of the last notice."""

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
        if self._last == (text, title):
            self.clear_notifications()
        self._last, self._noticed = (text, title), time()
        super().notify(text, title=title, severity=severity, timeout=timeout, markup=False)

    async def on_event(self, event: Event) -> None:
        """textual's. A key takes away the notices of those before."""
        if isinstance(event, Key) and self._noticed is not None and time() - self._noticed > SEEN:
            self._noticed = None
            self.clear_notifications()
        await super().on_event(event)
