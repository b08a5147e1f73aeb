"""Values that are written once, and named by their number wherever they are used."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

_Key = TypeVar("_Key", bound=Hashable)


class Pool:
    """A list of different values, in the order in which they came."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[Any, int] = {}

    def add(self, value: Hashable) -> int:
        """The number of a value that is written as it is."""
        return self.build(value, lambda same: same)

    def build(self, key: _Key, make: Callable[[_Key], Any]) -> int:
        """The number of what *make* gives for *key*; it is asked once for each key."""
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = len(self.values)
            self.values.append(None)
            self.values[place] = make(key)
        return place
