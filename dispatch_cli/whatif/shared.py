"""Results that take long and that several views need: each is computed once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

Made = TypeVar("Made")


class Shared(Generic[Made]):
    """A value that the first thread that asks for it makes, while others that ask wait."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._made: list[Made] = []

    def get(self, make: Callable[[], Made]) -> Made:
        """The value. Errors: those of *make*; then the next one that asks makes it."""
        with self._lock:
            if not self._made:
                self._made.append(make())
            return self._made[0]
