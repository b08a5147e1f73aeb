"""Keys one after another: each is looked at when all is done that the one before it leads to.

So are clicks, and what is pasted. textual hands a key on to the widget that has the focus at that moment. Of keys that
come together, as from a script or from fast fingers, the second would go to the list in which the first one has just
opened a line to type in.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque

from textual.app import App
from textual.events import Event, Key, MouseDown, MouseUp, Paste
from textual.widget import Widget
from textual.widgets import Input

from dispatch_cli.model.quoting import CONTROL, UNSEEN

_AT_ONCE, _PAUSE = 20, 0.002
"""Turns of the event loop that are waited for without a pause; the seconds between the turns after these."""
_MOST_TURNS = 500
"""Turns after which a key is looked at in any case: about a second."""
_IN_TURN = (Key, Paste, MouseDown, MouseUp)


class KeysInTurn(App[None]):
    """An application that looks at the next key when nothing is under way any more.

    Work in threads and timers do not count: nobody waits for them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._waiting = deque[Event]()
        self._turns = 0
        self._typed_into: Widget | None = None
        """Input that got the last key, if that was a letter."""

    async def on_event(self, event: Event) -> None:
        """textual's."""
        if not isinstance(event, _IN_TURN) or event.is_forwarded:
            await super().on_event(event)
        elif self._waiting or not self._is_turn_of(event):
            self._waiting.append(event)
            if len(self._waiting) == 1:
                self._turns = 0
                self.call_later(self._look_again)
        else:
            await self._look_at(event)

    async def _look_at(self, event: Event) -> None:
        focused = self.focused
        is_typed = isinstance(event, Key) and event.is_printable and isinstance(focused, Input)
        self._typed_into = focused if is_typed else None
        if isinstance(event, Paste):
            event.text = one_line(event.text)
        await super().on_event(event)

    async def _look_again(self) -> None:
        """Look at the first one that waits, if it is its turn."""
        self._turns += 1
        try:
            while self._waiting and (self._turns > _MOST_TURNS or self._is_turn_of(self._waiting[0])):
                self._turns = 0
                await self._look_at(self._waiting.popleft())
        finally:  # also after an error
            if self._waiting:
                await asyncio.sleep(0 if self._turns < _AT_ONCE else _PAUSE)
                self.call_later(self._look_again)

    def _is_turn_of(self, event: Event) -> bool:
        """True if nothing is under way. Letters in one line follow each other in any case: they open nothing."""
        is_letter = isinstance(event, Key) and event.is_printable
        if is_letter and self._typed_into is not None and self._typed_into is self.focused:
            return True
        if self.message_queue_size or self.screen._callbacks:  # to the application; for after the next frame
            return False
        return not any(
            node.message_queue_size or not node._is_mounted
            for node in self._registry
            if not (node._closing or node._closed)
        )


def one_line(text: str) -> str:
    """A text that is pasted, as a line to type in can have it: tabs and line breaks become a space, and what commands a
    terminal or cannot be seen is left out.
    """
    return re.sub(f"[{CONTROL}{UNSEEN}]", "", re.sub(r"[\t-\r\x85\u2028\u2029]+", " ", text.strip("\t\r\n")))
