"""An operator over the embedded PyTorch versions: in which it exists, and what changed in which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.history.changes import (
    CauseRow,
    VersionChanges,
    VersionKernel,
    Versions,
    changes_in,
    concerning,
    kernel_row,
)
from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.names import OperatorName


class HeldKind(Enum):
    """Kind of content that a key has in a version; the value is the name in machine formats."""

    NO_OPERATOR = "no-operator"
    NO_KEY = "no-key"
    SLOT = "slot"
    """The key has a slot, which holds what the rule says."""
    REGISTRATION = "registration"
    """The key has no slot, since it is an alias key or a functionality: what is registered there."""


class HeldAtKey(NamedTuple):
    """Content of an operator's key from version *first* to version *last*.

    rule, source: of a slot: the rule, and the key at which the kernel is registered. kernel: None for none.
    causes: what made it another one than before.
    """

    first: str
    last: str
    kind: HeldKind
    rule: Rule | None = None
    source: str | None = None
    kernel: VersionKernel | None = None
    causes: tuple[CauseRow, ...] = ()


def held_at(
    versions: Versions, name: str, key: str, has: Sequence[bool], changes: Sequence[VersionChanges]
) -> tuple[HeldAtKey, ...]:
    """The runs of versions in which an operator has the same at a key. changes: all of the operator's."""
    changed = {change.version: change for change in changes}
    runs: list[HeldAtKey] = []
    for number, version in enumerate(versions.names):
        held = _held(versions, number, name, key, has[number])
        last = runs[-1] if runs else None
        change = changed.get(version)
        if last is None or last.kind is not held.kind or _differs(held.kind, key, change):
            causes = () if last is None or change is None else _causes(key, change)
            runs.append(held._replace(causes=causes))
        else:
            known = held if held.kernel is None or held.kernel.file or last.kernel is None else last
            runs[-1] = last._replace(last=version, kernel=known.kernel)
    return tuple(runs)


def _held(versions: Versions, number: int, name: str, key: str, there: bool) -> HeldAtKey:
    version = versions.names[number]
    universe = versions.base(number).universe
    if not there:
        return HeldAtKey(version, version, HeldKind.NO_OPERATOR)
    if not universe.has_key(key):
        return HeldAtKey(version, version, HeldKind.NO_KEY)
    view = versions.view(number, name)
    if key not in universe.slot:
        kernels = view.kernels.get(key)
        kernel = None if kernels is None else kernel_row(kernels[0])
        return HeldAtKey(version, version, HeldKind.REGISTRATION, kernel=kernel)
    slot = versions.side(number).slot(view, key)
    decision = slot.decision
    return HeldAtKey(version, version, HeldKind.SLOT, decision.rule, decision.source, kernel_row(slot.kernel))


def _differs(kind: HeldKind, key: str, change: VersionChanges | None) -> bool:
    """True if the content is another one, as the comparison of the two versions says."""
    if change is None or change.change is not ChangeKind.REPLACED:
        return False
    if kind is HeldKind.SLOT:
        return any(key in row.keys.keys for row in change.slots)
    return any(row.key == key and row.change is not ChangeKind.BENEATH for row in change.registrations)


def _causes(key: str, change: VersionChanges) -> tuple[CauseRow, ...]:
    return next((row.causes for row in change.slots if key in row.keys.keys), ())


class HistoryVersion(NamedTuple):
    """An embedded state. torch: the build."""

    name: str
    torch: str


class VersionRun(NamedTuple):
    """Embedded versions that follow each other."""

    first: str
    last: str


class OperatorHistory(NamedTuple):
    """An operator over versions.

    schema: in the last version that has it; None of one without a schema.
    versions: those that have it. or_earlier: the oldest version has it, so that it may be older than that.
    schema_changed_in, registrations_changed_in, slots_changed_in: the versions in which these changed. Python kernels
    are registrations, too.
    overloads: of an operator that is gone, the overloads of its name that the newest version has.
    changes: of the versions in which something changed; with a key, what concerns it. at_key: what it has at the key.
    """

    operator: str
    schema: str | None
    versions: tuple[VersionRun, ...]
    or_earlier: bool
    schema_changed_in: tuple[str, ...]
    registrations_changed_in: tuple[str, ...]
    slots_changed_in: tuple[str, ...]
    overloads: tuple[str, ...]
    changes: tuple[VersionChanges, ...]
    at_key: tuple[HeldAtKey, ...]


@dataclass(frozen=True, slots=True)
class HistoryReport:
    """Operators over versions, the oldest first. key: the key that is asked for."""

    REPORT: ClassVar[str] = "history"

    versions: tuple[HistoryVersion, ...]
    key: str | None
    operators: tuple[OperatorHistory, ...]


def history_report(versions: Versions, names: Sequence[str], key: str | None = None) -> HistoryReport:
    """The histories of operators, by name, that some of the versions have."""
    descriptions = (versions.base(number).description for number in range(len(versions.names)))
    return HistoryReport(
        versions=tuple(HistoryVersion(description.name, description.torch) for description in descriptions),
        key=key,
        operators=tuple(_history(versions, name, key) for name in names),
    )


def _history(versions: Versions, name: str, key: str | None) -> OperatorHistory:
    has = versions.with_operator(name)
    changes = tuple(changes_in(versions, name, has))
    last = max(number for number, there in enumerate(has) if there)
    return OperatorHistory(
        operator=name,
        schema=versions.view(last, name).schema,
        versions=tuple(_runs(versions.names, has)),
        or_earlier=has[0],
        schema_changed_in=tuple(row.version for row in changes if row.schema and row.schema.old != row.schema.new),
        registrations_changed_in=tuple(row.version for row in changes if row.registrations or row.python_kernels),
        slots_changed_in=tuple(row.version for row in changes if row.slots),
        overloads=() if has[-1] else _overloads(versions, name),
        changes=changes if key is None else tuple(concerning(changes, key)),
        at_key=() if key is None else held_at(versions, name, key, has, changes),
    )


def _runs(names: Sequence[str], has: Sequence[bool]) -> list[VersionRun]:
    runs = []
    for there, run in groupby(zip(names, has, strict=True), key=lambda pair: pair[1]):
        if there:
            run_names = [name for name, _ in run]
            runs.append(VersionRun(run_names[0], run_names[-1]))
    return runs


def _overloads(versions: Versions, name: str) -> tuple[str, ...]:
    """The overloads of the name that the newest version has."""
    base = OperatorName.parse(name).name
    newest = versions.base(-1).names
    return tuple(overload for overload in newest if overload == base or overload.startswith(f"{base}."))
