"""Content of an operator's key over the embedded versions, in runs of versions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from dispatch_cli.answers.history.changes import kernel_row
from dispatch_cli.answers.history.rows import CauseRow, VersionChanges, VersionKernel
from dispatch_cli.answers.history.versions import Versions
from dispatch_cli.engine.comparison.causes import CauseKind
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.engine.rules import Rule

if TYPE_CHECKING:
    from dispatch_cli.engine.python.higher_order import Slot


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

    rule, source: of a slot: the rule, and the key at which the kernel is registered. kernel: None for none, and of a
    higher-order operator. function: of a higher-order operator, the implementation. finds: of a higher-order operator,
    what a call finds at the slot.
    causes: what made it another one than before.
    """

    first: str
    last: str
    kind: HeldKind
    rule: Rule | None = None
    source: str | None = None
    kernel: VersionKernel | None = None
    function: str | None = None
    finds: Slot | None = None
    causes: tuple[CauseRow, ...] = ()


def held_at(
    versions: Versions,
    name: str,
    key: str,
    has: Sequence[bool],
    higher_order: bool,
    changes: Sequence[VersionChanges],
) -> tuple[HeldAtKey, ...]:
    """The runs of versions in which an operator has the same at a key. changes: all of the operator's."""
    changed = {change.version: change for change in changes}
    runs: list[HeldAtKey] = []
    for number, version in enumerate(versions.names):
        held = _held(versions, number, name, key, has[number], higher_order)
        last = runs[-1] if runs else None
        change = changed.get(version)
        if last is None or last.kind is not held.kind or _differs(last, held, key, higher_order, change):
            causes = () if last is None or change is None else _causes(key, last, held, change)
            runs.append(held._replace(causes=causes))
        else:
            known = held if held.kernel is None or held.kernel.file or last.kernel is None else last
            runs[-1] = last._replace(last=version, kernel=known.kernel)
    return tuple(runs)


def _held(versions: Versions, number: int, name: str, key: str, there: bool, higher_order: bool) -> HeldAtKey:
    version = versions.names[number]
    universe = versions.base(number).universe
    if not there:
        return HeldAtKey(version, version, HeldKind.NO_OPERATOR)
    if key not in universe.slot and key not in universe.aliases and key not in universe.per_backend:
        return HeldAtKey(version, version, HeldKind.NO_KEY)
    if higher_order:
        return _higher_order(versions, number, name, key)
    view = versions.view(number, name)
    if key not in universe.slot:
        kernels = view.kernels.get(key)
        kernel = None if kernels is None else kernel_row(kernels[0])
        return HeldAtKey(version, version, HeldKind.REGISTRATION, kernel=kernel)
    slot = versions.side(number).slot(view, key)
    decision = slot.decision
    return HeldAtKey(version, version, HeldKind.SLOT, decision.rule, decision.source, kernel_row(slot.kernel))


def _higher_order(versions: Versions, number: int, name: str, key: str) -> HeldAtKey:
    from dispatch_cli.engine.python.higher_order import HigherOrderTable

    version, operator = versions.names[number], versions.higher_order(number)[name]
    side = versions.side(number)
    table = HigherOrderTable(side.universe, operator, frozenset(side.fallbacks))
    if key not in side.universe.slot:
        impl = table.kernels.get(key)
        return HeldAtKey(version, version, HeldKind.REGISTRATION, function=None if impl is None else impl.kernel)
    entry = table.entry(key)
    decision, function = entry.decision, None if entry.impl is None else entry.impl.kernel
    return HeldAtKey(version, version, HeldKind.SLOT, decision.rule, decision.source, None, function, entry.slot)


def _differs(last: HeldAtKey, held: HeldAtKey, key: str, higher_order: bool, change: VersionChanges | None) -> bool:
    """True if the content is another one, as the comparison of the two versions says."""
    if higher_order:
        return last[3:-1] != held[3:-1]
    if change is None or change.change is not ChangeKind.REPLACED:
        return False
    if held.kind is HeldKind.SLOT:
        return any(key in row.keys.keys for row in change.slots)
    moved = any(key in (*row.old_keys, *row.new_keys) for row in change.moves)
    return moved or any(row.key == key and row.change is not ChangeKind.BENEATH for row in change.registrations)


_KINDS = {
    ChangeKind.ADDED: CauseKind.ADDED,
    ChangeKind.REMOVED: CauseKind.REMOVED,
    ChangeKind.REPLACED: CauseKind.REPLACED,
}


def _causes(key: str, last: HeldAtKey, held: HeldAtKey, change: VersionChanges) -> tuple[CauseRow, ...]:
    for row in change.slots:
        if key in row.keys.keys:
            return row.causes
    sources = {last.source, held.source, key}
    return tuple(CauseRow(_KINDS[row.change], row.name, None) for row in change.implementations if row.name in sources)
