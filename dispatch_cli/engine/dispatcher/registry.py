"""Everything in a dispatcher that its history changes, and the base that it continues.

The first change after a checkpoint goes to a copy, and so does the first change of each operator: nothing that a
checkpoint keeps ever changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dispatch_cli.engine.table.layout import KeyLayout
from dispatch_cli.engine.table.live import KernelChange
from dispatch_cli.engine.table.registration import Fallbacks, LibraryHold
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.operator import Operator
    from dispatch_cli.model.captured import StateSource


_OF_PYTORCH = frozenset(
    {"_c10d_functional", "_c10d_functional_autograd", "_dtensor", "_quantized", "aten", "c10d", "mkl", "mkldnn"}
    | {"mkldnn_prepacked", "onednn", "prims", "quantization", "quantized", "sparse"}
)
"""Namespaces for which every build of PyTorch 2.4 to 2.15 has a DEF library; it has fragments of others."""


class Checkpoint:
    """A state of one dispatcher; `Dispatcher.checkpoint` gives it, and `Dispatcher.restore` brings it back.

    It never changes, and it stays good for as long as it is held: after other checkpoints were restored, earlier or
    later ones, on this line of events or on another.

    registry: stands for the dispatcher's. operators: those that are there, without those of the base that wait to be
    taken in. own: of these, the ones that belong to no earlier checkpoint. taken: the operators of the base that were
    taken in. fallback_changes: the changes of fallbacks so far. time: how many changes there have been.
    kept: it is a checkpoint, and not only the present state.
    """

    __slots__ = ("fallback_changes", "fallbacks", "kept", "libraries", "operators", "own", "registry", "taken", "time")

    def __init__(self, registry: object) -> None:
        self.registry = registry
        self.operators: dict[OperatorName, Operator] = {}
        self.own: set[OperatorName] = set()
        self.taken: set[str] = set()
        self.libraries: dict[str, LibraryHold] = {}
        self.fallbacks = Fallbacks()
        self.fallback_changes: tuple[KernelChange, ...] = ()
        self.time = 0
        self.kept = False

    def copy(self) -> Checkpoint:
        """An independent copy, which shares the operators."""
        copy = Checkpoint(self.registry)
        copy.operators, copy.taken, copy.libraries = {**self.operators}, {*self.taken}, {**self.libraries}
        copy.fallbacks, copy.fallback_changes, copy.time = self.fallbacks.copy(), self.fallback_changes, self.time
        return copy

    def __repr__(self) -> str:
        return f"<checkpoint after {self.time} changes>"


class Registry:
    """The operators, fallbacks and libraries of a dispatcher. now: as they are, to be read."""

    def __init__(self, layout: KeyLayout) -> None:
        self.identity = object()
        self.now = Checkpoint(self.identity)
        self._layout = layout
        self._captured: Mapping[str, None] = {}
        self._base_changes: tuple[KernelChange, ...] = ()

    # the base

    def continue_from(self, base: StateSource) -> None:
        """Let the operators of *base* wait to be taken in; the fallbacks that are there were there with them."""
        self._captured = dict.fromkeys(base.names)
        namespaces = {name.partition("::")[0] for name in self._captured} & _OF_PYTORCH
        self.now.libraries = {name: LibraryHold(name, "registered by PyTorch") for name in namespaces}
        self._base_changes = self.now.fallback_changes

    def waits(self, name: OperatorName) -> bool:
        """True if it is an operator of the base that has not been taken in."""
        return bool(self._captured) and (text := str(name)) in self._captured and text not in self.now.taken

    def waiting(self) -> list[str]:
        """The names of the operators of the base that have not been taken in, in the base's order."""
        taken = self.now.taken
        return [name for name in self._captured if name not in taken] if taken else [*self._captured]

    @property
    def fallbacks_are_the_bases(self) -> bool:
        """True if no fallback has changed since the base."""
        return self.now.fallback_changes == self._base_changes

    # one operator

    def find(self, name: OperatorName) -> Operator | None:
        """The operator that is there; its live table follows the changes of fallbacks."""
        operator = self.now.operators.get(name)
        if operator is not None and operator.live.fallback_changes is not self.now.fallback_changes:
            operator = self.changing(operator)
            operator.live.fallback_changes = self.now.fallback_changes
        return operator

    def create(self, name: OperatorName) -> Operator:
        """A new operator, without anything."""
        now = self.change()
        return self._add(now, name, len(now.fallback_changes))

    def take_in(self, name: OperatorName) -> Operator:
        """A new operator in the place of one of the base that waits; it was there before any later fallback."""
        now = self.change()
        now.taken.add(str(name))
        return self._add(now, name, len(self._base_changes), captured=True)

    def _add(self, now: Checkpoint, name: OperatorName, seen: int, captured: bool = False) -> Operator:
        # not needed, and not loaded, while a captured state is only read
        from dispatch_cli.engine.dispatcher.operator import Operator

        operator = now.operators[name] = Operator(name, self._layout, now.fallback_changes, seen, captured)
        now.own.add(name)
        return operator

    # changing

    def change(self) -> Checkpoint:
        """The present state, to be changed."""
        if self.now.kept:
            self.now = self.now.copy()
        return self.now

    def changing(self, operator: Operator) -> Operator:
        """An operator that is there, to be changed."""
        now = self.change()
        if operator.name not in now.own:
            operator = now.operators[operator.name] = operator.copy()
            now.own.add(operator.name)
        return operator

    def remove(self, name: OperatorName) -> None:
        """Take an operator out."""
        now = self.change()
        del now.operators[name]
        now.own.discard(name)

    def note_fallback(self, change: KernelChange) -> None:
        """Remember a change of a fallback, for the live tables."""
        now = self.change()
        now.fallback_changes = (*now.fallback_changes, change)
