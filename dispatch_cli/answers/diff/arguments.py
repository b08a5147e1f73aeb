"""The arguments of ``diff`` for two states."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli import bases


class DiffArguments(NamedTuple):
    """The files or states that each side consists of, and the other arguments."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    options: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of ``diff``."""
        further = [("--old", file) for file in self.old[1:]] + [("--new", file) for file in self.new[1:]]
        return (self.old[0], self.new[0], *(text for pair in further for text in pair), *self.options)


def as_side(named: tuple[str, ...]) -> tuple[str, ...]:
    """Embedded states as one side: an overlay stands for itself over its state."""
    overlays = tuple(name for name in named if name in bases.overlay_names())
    return overlays or named
