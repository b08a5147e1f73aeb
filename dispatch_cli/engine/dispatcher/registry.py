"""Everything in a dispatcher that its history changes, and earlier versions of it.

The versions form a tree with the present at its root: each knows the next version on the way to the present, and what
leads from that one to itself. An entry is kept for the latest version when it changes for the first time after it, and
only while that version is referenced; without versions nothing is kept. Restoring a version exchanges what was kept
with what is there, version by version on the way to it, so that all others can still be restored. The cost is that of
the changes on the way, whatever the size of the state. (The technique is Baker's, of "Shallow binding makes functional
arrays fast".)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, ref

from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.engine.table.live import FallbackHistory, KernelChange
from dispatch_cli.engine.table.registration import Fallbacks, LibraryHold
from dispatch_cli.model.names import OperatorName

if TYPE_CHECKING:
    from dispatch_cli.engine.dispatcher.operator import Operator
    from dispatch_cli.model.captured import StateSource


_CAPTURED: WeakKeyDictionary[StateSource, Mapping[str, None]] = WeakKeyDictionary()
"""The names of a base's operators, which all dispatchers that continue it share."""


class Kept:
    """The step from one version to another: the entries in which they differ, as the other has them.

    operators: None where there is none; and whether the operator, of a base, has been taken in.
    libraries: None where the namespace is free. fallbacks: None when all of them are the same.
    changes: how many of the fallback changes both versions share, and those that the other has beyond them.
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


class Version:
    """A state that the registry can go back to. kept: what leads to it from *toward*, or from the present."""

    __slots__ = ("__weakref__", "kept", "toward")

    def __init__(self, time: int) -> None:
        self.kept = Kept(time)
        self.toward: Version | None = None

    def way(self) -> Iterator[Version]:
        """This version, and those on the way from it to the present."""
        version: Version | None = self
        while version is not None:
            yield version
            version = version.toward


class Registry:
    """The operators, fallbacks and libraries of a dispatcher.

    Code that changes one of them calls its ``keep_…`` before.

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
        self._captured: Mapping[str, None] = {}
        self._taken: set[str] = set()
        self._base_changes = 0
        self._created = 0
        self._out_of_order = False
        self._latest: ref[Version] | None = None

    # the base

    def continue_from(self, base: StateSource) -> None:
        """Let the operators of *base* wait to be taken in; the fallbacks that are there were there with them."""
        captured = _CAPTURED.get(base)
        if captured is None:
            captured = _CAPTURED[base] = dict.fromkeys(base.names)
        self._captured = captured
        self._base_changes = len(self.history.changes)

    def waits(self, name: OperatorName) -> bool:
        """True if it is an operator of the base that has not been taken in."""
        return bool(self._captured) and (text := str(name)) in self._captured and text not in self._taken

    def waiting(self) -> list[str]:
        """The names of the operators of the base that have not been taken in, in the base's order."""
        return [name for name in self._captured if name not in self._taken]

    @property
    def waiting_count(self) -> int:
        """Number of operators of the base that have not been taken in."""
        return len(self._captured) - len(self._taken)

    def present(self) -> set[OperatorName]:
        """The operators that are there, and those of the base that were taken in and then dropped."""
        return {*self.operators, *map(OperatorName.parse, self._taken)}

    @property
    def fallbacks_are_the_bases(self) -> bool:
        """True if no fallback has changed since the base."""
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
        operator = self.operators[name] = self._new(name, self._base_changes, captured=True)
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

    def _new(self, name: OperatorName, seen: int, captured: bool = False) -> Operator:
        # not needed, and not loaded, while a captured state is only read
        from dispatch_cli.engine.dispatcher.operator import Operator

        self._created += 1
        return Operator(name, self._layout, self.history, seen, self._created, captured)

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

    def _held(self) -> Version | None:
        """The latest version, if it is still referenced, by itself or by an earlier one."""
        return None if self._latest is None else self._latest()

    # versions

    def version(self) -> Version:
        """The present state: the latest version, when nothing has changed since."""
        latest = self._held()
        if latest is not None and not latest.kept:
            return latest
        new = Version(self.time)
        if latest is not None:
            latest.toward = new
        if self.history.before_replay is None:
            self.history.before_replay = _keeper(ref(self))
        self._latest = ref(new)
        return new

    def restore(self, wanted: Version) -> None:
        """Make an earlier, or later, version the present one."""
        after: Version | None = None
        for version in reversed(list(wanted.way())):
            undone = self._exchange(version.kept)
            if after is not None:
                after.kept, after.toward = undone, version
            version.kept, version.toward = Kept(self.time), None
            after = version
        self._latest = ref(wanted)

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
        """The operator that is there, as a copy: the original may still be referenced elsewhere."""
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
