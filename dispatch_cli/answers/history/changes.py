"""The embedded versions, and the changes of an operator from one to the next, as rows."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli import bases
from dispatch_cli.answers.shared.slot_row import KeyRuns, runs_of
from dispatch_cli.engine.comparison.operators import OperatorChange, PythonChange, compare_operator
from dispatch_cli.engine.comparison.sides import ChangeKind, KernelView, OperatorView, Side
from dispatch_cli.engine.comparison.slots import CauseKind, SlotCause, SlotComparison
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.state import State

if TYPE_CHECKING:
    from dispatch_cli.bases import Base
    from dispatch_cli.engine.comparison.slots import SlotChange
    from dispatch_cli.model.schema_changes import SchemaPartChange


class KeyFate(Enum):
    """Change of a key itself, which only one of two versions has."""

    NEW = "new"
    GONE = "gone"


class VersionKernel(NamedTuple):
    """A kernel. file: the name of its source file, where PyTorch says it. debug: what a dump says of it."""

    file: str | None
    debug: str
    fallthrough: bool


class SchemaRow(NamedTuple):
    """A definition that changed. old, new: the schemas, None for none. parts: what differs in them.

    alias_analysis: both kinds, where they differ.
    """

    old: str | None
    new: str | None
    parts: tuple[SchemaPartChange, ...]
    tags_added: tuple[str, ...]
    tags_removed: tuple[str, ...]
    alias_analysis: tuple[str, str] | None


class RegistrationRow(NamedTuple):
    """Change of registrations at a key. before, after: the kernels there, the active one first.

    key_is: the key itself is new in this version, or gone.
    """

    key: str
    change: ChangeKind
    before: tuple[VersionKernel, ...]
    after: tuple[VersionKernel, ...]
    key_is: KeyFate | None


class VersionAnswer(NamedTuple):
    """Content of slots. source: the key at which the kernel is registered; None where it is none of the operator's.

    kernel: None where there is none, and where the slots have different ones.
    """

    rule: Rule
    source: str | None
    kernel: VersionKernel | None


class CauseRow(NamedTuple):
    """A change that slots follow from. key: where the kernel is registered; empty for fallbacks and the universe.

    kernel: the one that came, or the one that went.
    """

    kind: CauseKind
    key: str
    kernel: VersionKernel | None


class SlotsRow(NamedTuple):
    """Slots that give another answer, all in the same way. keys: in runs of neighbours."""

    keys: KeyRuns
    before: VersionAnswer
    after: VersionAnswer
    causes: tuple[CauseRow, ...]


class VersionChanges(NamedTuple):
    """Changes from one version (*since*) to the next (*version*).

    change: ADDED and REMOVED for an operator that only one of them has; then the rest is empty.
    registered_at: of an operator that was added, the keys at which it has kernels.
    """

    version: str
    since: str
    change: ChangeKind
    registered_at: tuple[str, ...] = ()
    schema: SchemaRow | None = None
    registrations: tuple[RegistrationRow, ...] = ()
    python_kernels: tuple[PythonChange, ...] = ()
    slots: tuple[SlotsRow, ...] = ()


class Versions:
    """Embedded states by their numbers in *names*, the oldest first."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        self._sides: dict[int, Side] = {}
        self._slots: dict[int, SlotComparison] = {}
        self._views: tuple[str, dict[int, OperatorView]] = ("", {})

    def base(self, number: int) -> Base:
        """A state as it is embedded."""
        return bases.load(self.names[number])

    def side(self, number: int) -> Side:
        """A state as it is compared."""
        if number not in self._sides:
            base = self.base(number)
            self._sides[number] = Side(State(Dispatcher(base.universe, base=base), source=base))
        return self._sides[number]

    def slots(self, number: int) -> SlotComparison:
        """The comparison of the slots of a state with those of the one before."""
        if number not in self._slots:
            self._slots[number] = SlotComparison(self.side(number - 1), self.side(number))
        return self._slots[number]

    def view(self, number: int, name: str) -> OperatorView:
        """An operator that the state has; of the last operator that was asked for, the views are kept."""
        if self._views[0] != name:
            self._views = (name, {})
        views = self._views[1]
        if number not in views:
            operator_view = self.side(number).view(name)
            assert operator_view is not None, f"{self.names[number]} has no {name}"
            views[number] = operator_view
        return views[number]

    def with_operator(self, name: str) -> tuple[bool, ...]:
        """True for each of the states that has an operator."""
        return tuple(_has(self.base(number).names, name) for number in range(len(self.names)))

    def operators(self) -> list[str]:
        """The names of all operators that some state has, sorted."""
        return sorted({name for number in range(len(self.names)) for name in self.base(number).names})


def _has(names: Sequence[str], name: str) -> bool:
    """True if a sorted sequence has a name."""
    place = bisect_left(names, name)
    return place < len(names) and names[place] == name


def changes_in(versions: Versions, name: str, has: Sequence[bool]) -> Iterator[VersionChanges]:
    """Changes in each version. has: for each version, True if it has the operator."""
    for number in range(1, len(has)):
        version, since = versions.names[number], versions.names[number - 1]
        if has[number] and has[number - 1]:
            changes = _changed(versions, number, name)
            if changes is not None:
                yield changes._replace(version=version, since=since)
        elif has[number]:
            yield VersionChanges(version, since, ChangeKind.ADDED, tuple(versions.view(number, name).kernels))
        elif has[number - 1]:
            yield VersionChanges(version, since, ChangeKind.REMOVED)


def concerning(changes: Iterable[VersionChanges], key: str) -> Iterator[VersionChanges]:
    """Changes that concern a key: of the operator's slot there, and of the registrations that it comes from."""
    for change in changes:
        slots = tuple(row._replace(keys=KeyRuns([(key,)])) for row in change.slots if key in row.keys.keys)
        keys = {key, *(cause.key for row in slots for cause in row.causes)}
        narrowed = change._replace(
            schema=None,
            registrations=tuple(row for row in change.registrations if row.key in keys),
            python_kernels=tuple(row for row in change.python_kernels if row.key == key),
            slots=slots,
        )
        # of an operator that both versions have, nothing may be left
        if narrowed.change is not ChangeKind.REPLACED or any(narrowed[3:]):
            yield narrowed


def kernel_row(view: KernelView | None) -> VersionKernel | None:
    """A kernel as a row; None for none."""
    return None if view is None else VersionKernel(view.identity.file, view.debug, view.fallthrough)


def _changed(versions: Versions, number: int, name: str) -> VersionChanges | None:
    old, new = versions.view(number - 1, name), versions.view(number, name)
    comparison = versions.slots(number)
    change = compare_operator(old, new, comparison)
    if change is None:
        return None
    sides = versions.side(number - 1), versions.side(number)
    fates = {key: KeyFate.GONE for key in sides[0].universe.ids if key not in sides[1].universe.ids}
    fates |= {key: KeyFate.NEW for key in sides[1].universe.ids if key not in sides[0].universe.ids}
    return VersionChanges(
        version="",
        since="",
        change=ChangeKind.REPLACED,
        schema=_schema(change),
        registrations=tuple(
            RegistrationRow(row.key, row.change, _kernels(row.before), _kernels(row.after), fates.get(row.key))
            for row in change.registrations
        ),
        python_kernels=change.python_kernels,
        slots=tuple(_slots(slot, sides, (old, new)) for slot in change.slots),
    )


def _kernels(views: Iterable[KernelView]) -> tuple[VersionKernel, ...]:
    return tuple(row for view in views if (row := kernel_row(view)) is not None)


def _schema(change: OperatorChange) -> SchemaRow | None:
    schema = change.schema
    if schema is None:
        return None
    parts: tuple[SchemaPartChange, ...] = ()
    if schema.schema_differs and schema.old is not None and schema.new is not None:
        from dispatch_cli.model.schema.parser import parse_printed_schema
        from dispatch_cli.model.schema_changes import schema_changes

        parts = schema_changes(parse_printed_schema(schema.old), parse_printed_schema(schema.new))
    return SchemaRow(schema.old, schema.new, parts, schema.tags_added, schema.tags_removed, schema.alias_analysis)


def _slots(change: SlotChange, sides: tuple[Side, Side], views: tuple[OperatorView, OperatorView]) -> SlotsRow:
    before, after = (_answer(change.keys, *pair) for pair in zip(sides, views, strict=True))
    keys = runs_of(change.keys, sides[1].universe.slot)
    return SlotsRow(keys, before, after, tuple(_cause(cause, views) for cause in change.causes))


def _answer(keys: Sequence[str], side: Side, view: OperatorView) -> VersionAnswer:
    slot = side.slot(view, keys[0])
    kernel = slot.kernel
    if slot.decision.rule is Rule.FALLBACK and any(side.fallbacks.get(key) != kernel for key in keys):
        kernel = None
    return VersionAnswer(slot.decision.rule, slot.decision.source, kernel_row(kernel))


def _cause(cause: SlotCause, views: tuple[OperatorView, OperatorView]) -> CauseRow:
    kernels = views[cause.kind is not CauseKind.REMOVED].kernels.get(cause.key)
    if kernels is None or cause.kind is CauseKind.UNIVERSE:
        return CauseRow(cause.kind, cause.key, None)
    return CauseRow(cause.kind, cause.key, kernel_row(kernels[0]))
