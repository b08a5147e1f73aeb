"""Times of the search for cyclic garbage, which takes a while: not before the first frame, and while the user rests."""

from __future__ import annotations

import gc

from textual.app import App
from textual.events import Event, InputEvent
from textual.timer import Timer

_REST = 0.7
"""Seconds without a key or the mouse after which all garbage is looked for."""
_THRESHOLDS = (700, 10, 30)
"""Python's own, with three times as much before all of it is looked through between two keys."""


class Tidying(App[None]):
    """An application that looks for garbage by this rule, where it has a process of its own."""

    own_process = False
    _rest: Timer | None = None

    def on_ready(self) -> None:
        """The first frame is there."""
        if self.own_process:
            gc.freeze()
            gc.set_threshold(*_THRESHOLDS)
            gc.enable()
            self._rest = self.set_interval(_REST, self._tidy)

    async def on_event(self, event: Event) -> None:
        """textual's."""
        if self._rest is not None and isinstance(event, InputEvent):
            self._rest.reset()
        await super().on_event(event)

    def keep_all(self) -> None:
        """Keep the objects of now as long as the program: looking through them again and again would only cost."""
        if self.own_process:
            gc.collect()
            gc.freeze()

    def _tidy(self) -> None:
        gc.collect()
        if self._rest is not None:
            self._rest.pause()
