"""The terminal stays as it is until there is a frame to show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from textual.driver import Driver


class ShowsFirstFrame(Protocol):
    """An application that calls *show_first_frame* when it has made its first frame."""

    show_first_frame: Callable[[], object]


def late(driver: type[Driver]) -> type[Driver]:
    """A driver that writes only from the first frame on: textual would show an empty screen before."""

    class LateDriver(driver):  # type: ignore[valid-type, misc]
        def __init__(self, app: ShowsFirstFrame, **options: Any) -> None:
            super().__init__(app, **options)
            self._early: list[str] | None = []
            app.show_first_frame = self.show

        def write(self, data: str) -> None:
            """textual's. What an application that ends early would have written is left out."""
            if self._early is None:
                super().write(data)
            else:
                self._early.append(data)

        def show(self) -> None:
            """Write all that there is."""
            early, self._early = self._early, None
            super().write("".join(early or ()))

    return LateDriver
