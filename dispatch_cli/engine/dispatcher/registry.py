"""What a dispatcher holds: everything that its history changes, and the versions of it that checkpoints stand for.

A thing is kept for the latest checkpoint before it changes for the first time after it, and only while somebody holds
that checkpoint; without checkpoints nothing is kept. Restoring one exchanges what was kept with what is there,
checkpoint by checkpoint on the way to it, and keeps the latter in the place of the former, so that every other
checkpoint can still be restored. Both cost what has changed on the way, whatever the size of the state. (The technique
is Baker's, of "Shallow binding makes functional arrays fast".)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import ref

from dispatch_cli.engine.dispatcher.checkpoint import Checkpoint, Kept
from dispatch_cli.engine.dispatcher.operator import Operator
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.engine.table.live import FallbackHistory, KernelChange
from dispatch_cli.engine.table.registration import Fallbacks, LibraryHold
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
    from dispatch_cli.model.state_source import StateSource


class Registry:
    """The operators, fallbacks and libraries of a dispatcher.

    Whoever changes one of them calls its ``keep_…`` before.

    operators: those that are there, without those of the base that wait to be taken in.
    history: the changes of fallbacks. time: how many changes there have been.
    """

    def __init__(self, layout: KeyLayout) -> None:
        self.operators: dict[OperatorName, Operator] = {}
        self.libraries: dict[str, LibraryHold] = {}
        self.fallbacks = Fallbacks()
        self.history = FallbackHistory()
        self.time = 0
        self._layout = layout
        self._captured: dict[str, None] = {}
        self._taken: set[str] = set()
        self._base_changes = 0
        self._created = 0
        self._out_of_order = False
        self._latest: ref[Checkpoint] | None = None

    # the base

    def continue_from(self, base: StateSource) -> None:
        """Let the operators of *base* wait to be taken in; the fallbacks that are there were there with them."""
        self._captured = dict.fromkeys(base.names)
        self._base_changes = len(self.history.changes)

    def waits(self, name: OperatorName) -> bool:
        """Whether it is an operator of the base that has not been taken in."""
        return bool(self._captured) and (text := str(name)) in self._captured and text not in self._taken

    def waiting(self) -> list[str]:
        """The names of the operators of the base that have not been taken in, in the base's order."""
        return [name for name in self._captured if name not in self._taken]

    @property
    def waiting_count(self) -> int:
        """How many operators of the base have not been taken in."""
        return len(self._captured) - len(self._taken)

    def present(self) -> set[OperatorName]:
        """The operators that are there, and those of the base that were taken in and then dropped."""
        return {*self.operators, *map(OperatorName.parse, self._taken)}

    @property
    def fallbacks_are_the_bases(self) -> bool:
        """Whether no fallback has changed since the base."""
        return len(self.history.changes) == self._base_changes

    # changing

    def create(self, name: OperatorName) -> Operator:
        """A new operator, without anything."""
        self.keep_operator(name)
        operator = self.operators[name] = self._new(name, len(self.history.changes))
        return operator

    def take_in(self, name: OperatorName) -> Operator:
        """A new operator in the place of one of the base that waits; it was there before any later fallback."""
        self.keep_operator(name)
        self._taken.add(str(name))
        operator = self.operators[name] = self._new(name, self._base_changes)
        return operator

    def note_fallback(self, change: KernelChange) -> None:
        """Remember a change of a fallback, for the live tables; `keep_fallbacks` comes before it."""
        self.history.changes.append(change)

    def in_order(self) -> dict[OperatorName, Operator]:
        """The operators in the order in which they came."""
        if self._out_of_order:
            ordered = sorted(self.operators.items(), key=lambda item: item[1].number)
            self.operators.clear()
            self.operators.update(ordered)
            self._out_of_order = False
        return self.operators

    def _new(self, name: OperatorName, seen: int) -> Operator:
        self._created += 1
        return Operator(name, self._layout, self.history, seen, self._created)

    # keeping

    def keep_operator(self, name: OperatorName) -> None:
        """The operator, or its absence, is about to change."""
        latest = self._held()
        if latest is not None and name not in latest.kept.operators:
            operator = self.operators.get(name)
            taken = bool(self._captured) and str(name) in self._taken
            latest.kept.operators[name] = (operator.copy() if operator is not None else None, taken)

    def keep_library(self, namespace: str) -> None:
        """The DEF library of a namespace, or its absence, is about to change."""
        latest = self._held()
        if latest is not None:
            latest.kept.libraries.setdefault(namespace, self.libraries.get(namespace))

    def keep_fallbacks(self) -> None:
        """A fallback is about to change."""
        latest = self._held()
        if latest is not None and latest.kept.fallbacks is None:
            latest.kept.fallbacks = self.fallbacks
            latest.kept.changes = (len(self.history.changes), [])
            self.fallbacks = self.fallbacks.copy()

    def _held(self) -> Checkpoint | None:
        """The latest checkpoint, if somebody still holds it, or one before it."""
        return None if self._latest is None else self._latest()

    # checkpoints

    def checkpoint(self, dispatcher: Dispatcher) -> Checkpoint:
        """The state as it is: the latest checkpoint, when nothing has changed since.

        dispatcher: whose registry this is.
        """
        latest = self._held()
        if latest is not None and not latest.kept:
            return latest
        new = Checkpoint(dispatcher, self.time)
        if latest is not None:
            latest.toward = new
        if self.history.before_replay is None:
            self.history.before_replay = _keeper(ref(self))
        self._latest = ref(new)
        return new

    def restore(self, checkpoint: Checkpoint) -> None:
        """Make a checkpoint's state the present one."""
        after: Checkpoint | None = None
        for version in reversed(list(checkpoint.way())):
            undone = self._exchange(version.kept)
            if after is not None:
                after.kept, after.toward = undone, version
            version.kept, version.toward = Kept(self.time), None
            after = version
        self._latest = ref(checkpoint)

    def changed_between(self, one: Checkpoint | None, other: Checkpoint | None) -> tuple[set[OperatorName], bool]:
        """The operators that may differ between two checkpoints, and whether fallbacks may; None is the present."""
        ways = [list(version.way()) if version is not None else [] for version in (one, other)]
        shared = {id(version) for version in ways[0]} & {id(version) for version in ways[1]}
        passed = [version.kept for way in ways for version in way if id(version) not in shared]
        operators = {name for kept in passed for name in kept.operators}
        return operators, any(kept.fallbacks is not None for kept in passed)

    def _exchange(self, kept: Kept) -> Kept:
        """Put what was kept into its place, and keep what was there."""
        there = Kept(self.time)
        self.time = kept.time
        for name, (operator, taken) in kept.operators.items():
            there.operators[name] = (self._put(name, operator), self._put_taken(str(name), taken))
        for namespace, hold in kept.libraries.items():
            there.libraries[namespace] = self.libraries.pop(namespace, None)
            if hold is not None:
                self.libraries[namespace] = hold
        if kept.fallbacks is not None:
            shared, beyond = kept.changes
            there.fallbacks, self.fallbacks = self.fallbacks, kept.fallbacks
            there.changes = (shared, self.history.changes[shared:])
            self.history.changes[shared:] = beyond
        return there

    def _put(self, name: OperatorName, operator: Operator | None) -> Operator | None:
        if operator is None:
            return self._taken_out(name)
        there = self._taken_out(name)
        self.operators[name] = operator
        self._out_of_order = True
        return there

    def _taken_out(self, name: OperatorName) -> Operator | None:
        """What is there, as a copy: whoever has asked for it may still hold the operator itself."""
        there = self.operators.pop(name, None)
        return None if there is None else there.copy()

    def _put_taken(self, name: str, taken: bool) -> bool:
        there = name in self._taken
        (self._taken.add if taken else self._taken.discard)(name)
        return there


def _keeper(registry: ref[Registry]) -> Callable[[OperatorName], None]:
    """`Registry.keep_operator` for the live tables, which the registry holds: it does not keep the registry alive."""

    def keep(name: OperatorName) -> None:
        held = registry()
        if held is not None:
            held.keep_operator(name)

    return keep
