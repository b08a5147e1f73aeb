"""A state of a dispatcher, held so that it can be brought back."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.engine.dispatcher.operator import Operator
    from dispatch_cli.engine.table.live import KernelChange
    from dispatch_cli.engine.table.registration import Fallbacks, LibraryHold
    from dispatch_cli.model.names import OperatorName


class Kept:
    """What leads from one state to another: the things in which they differ, as the other has them.

    operators: None where there is none; and whether the operator, of a base, has been taken in.
    libraries: None where the namespace is free. fallbacks: None when all of them are the same.
    changes: how many of the fallback changes both states share, and those that the other has beyond them.
    time: the other's count of changes.
    """

    __slots__ = ("changes", "fallbacks", "libraries", "operators", "time")

    def __init__(self, time: int) -> None:
        self.operators: dict[OperatorName, tuple[Operator | None, bool]] = {}
        self.libraries: dict[str, LibraryHold | None] = {}
        self.fallbacks: Fallbacks | None = None
        self.changes: tuple[int, list[KernelChange]] = (0, [])
        self.time = time

    def __bool__(self) -> bool:
        return bool(self.operators or self.libraries or self.fallbacks is not None)


class Checkpoint:
    """A state of one dispatcher; `Dispatcher.checkpoint` makes it, and `Dispatcher.restore` brings it back.

    It never changes, and it stays good for as long as it is held: after other checkpoints were restored, earlier or
    later ones, on this line of events or on another. Holding it costs what has changed since; letting it go frees that.

    dispatcher: the one whose state it is.
    """

    # The checkpoints of a dispatcher form a tree with the present at its root: each knows the next state on the way
    # there, and what leads from that one to itself. `Registry` turns the tree when another state becomes the present.
    __slots__ = ("__weakref__", "dispatcher", "kept", "toward")

    def __init__(self, dispatcher: Dispatcher, time: int) -> None:
        self.dispatcher = dispatcher
        self.kept = Kept(time)
        self.toward: Checkpoint | None = None

    def __repr__(self) -> str:
        return f"<checkpoint after {self.kept.time} changes>"

    def way(self) -> Iterator[Checkpoint]:
        """This checkpoint, and those on the way from it to the present."""
        version: Checkpoint | None = self
        while version is not None:
            yield version
            version = version.toward
