"""Updates that follow a cursor: at once where it had rested, and where keys come quickly, as soon as they pause."""

from __future__ import annotations

from collections.abc import Callable

from textual.message_pump import MessagePump
from textual.timer import Timer


class Following:
    """Follows a cursor.

    widget: whose timers are used. pause: the seconds that keys are apart, or longer, where each is followed at once.
    follow: shows what there is at the cursor.
    """

    def __init__(self, widget: MessagePump, pause: float, follow: Callable[[], object]) -> None:
        self._widget = widget
        self._pause = pause
        self._follow = follow
        self._timer: Timer | None = None

    def moved(self) -> None:
        """The cursor is somewhere else."""
        then = self._catch_up
        if self._timer is not None:
            self._timer.stop()
        else:
            self._follow()
            then = self._rest
        self._timer = self._widget.set_timer(self._pause, then)

    def _rest(self) -> None:
        self._timer = None

    def _catch_up(self) -> None:
        self._timer = None
        self._follow()
