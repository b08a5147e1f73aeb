"""The arguments of ``diff`` for two states."""

from __future__ import annotations

from typing import NamedTuple


class DiffArguments(NamedTuple):
    """The files or states that each side consists of, and the other arguments.

    why_not: why ``diff`` does not take these.
    """

    old: tuple[str, ...]
    new: tuple[str, ...]
    options: tuple[str, ...]
    why_not: str = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """Those of ``diff``; none where it does not take them."""
        if self.why_not:
            return ()
        further = [("--old", file) for file in self.old[1:]] + [("--new", file) for file in self.new[1:]]
        return (self.old[0], self.new[0], *(text for pair in further for text in pair), *self.options)
