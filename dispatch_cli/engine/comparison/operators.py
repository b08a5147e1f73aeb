"""Differences between one operator in two states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from dispatch_cli.engine.comparison.sides import (
    ChangeKind,
    KernelView,
    OperatorView,
    same_active,
    same_kernel,
)
from dispatch_cli.engine.comparison.slots import SlotChange, SlotComparison


class SchemaChange(NamedTuple):
    """A definition that differs. Both texts are equal where only tags or alias analysis differ.

    old, new: None where nothing defines the operator, or where a schema is not known.
    tags_added, tags_removed: sorted. alias_analysis: both kinds, where they differ.
    """

    old: str | None
    new: str | None
    tags_added: tuple[str, ...]
    tags_removed: tuple[str, ...]
    alias_analysis: tuple[str, str] | None

    @property
    def schema_differs(self) -> bool:
        """True if the schema itself is another one."""
        return self.old != self.new


class RegistrationChange(NamedTuple):
    """Change at a key. before, after: the kernels there, newest first."""

    key: str
    change: ChangeKind
    before: tuple[KernelView, ...]
    after: tuple[KernelView, ...]


class PythonChange(NamedTuple):
    """A Python kernel that came, went or is another function. before, after: None where there is none."""

    key: str
    before: str | None
    after: str | None

    @property
    def change(self) -> ChangeKind:
        """Kind of change, by the sides that have kernels."""
        return ChangeKind.of(self.before, self.after)


class OperatorChange(NamedTuple):
    """Differences between one operator in two states.

    change: ADDED and REMOVED for an operator that one side has alone; REPLACED where both have it. before, after: the
    two views. The rest is empty for an operator that one side has alone.
    registrations: by key. slots: at the keys that both universes have.
    """

    name: str
    change: ChangeKind
    before: OperatorView | None
    after: OperatorView | None
    schema: SchemaChange | None = None
    registrations: tuple[RegistrationChange, ...] = ()
    python_kernels: tuple[PythonChange, ...] = ()
    slots: tuple[SlotChange, ...] = ()


def compare_operator(
    old: OperatorView | None, new: OperatorView | None, slots: SlotComparison
) -> OperatorChange | None:
    """Differences between two views of an operator; None where there are none, or neither side has the operator."""
    if old is None or new is None:
        present = old or new
        return None if present is None else OperatorChange(present.name, ChangeKind.of(old, new), old, new)
    schema = _schema(old, new)
    registrations = _registrations(old.kernels, new.kernels)
    replaced = [registration.key for registration in registrations if registration.change is ChangeKind.REPLACED]
    changed_slots = slots.changes(old, new, replaced)
    python_kernels = () if old.python_kernels == new.python_kernels else tuple(_python(old, new))
    if not (schema or registrations or changed_slots or python_kernels):
        return None
    return OperatorChange(
        new.name, ChangeKind.REPLACED, old, new, schema, tuple(registrations), python_kernels, changed_slots
    )


def _schema(old: OperatorView, new: OperatorView) -> SchemaChange | None:
    if old.schema == new.schema and old.tags == new.tags and old.alias_analysis == new.alias_analysis:
        return None
    if old.defined and new.defined and (old.schema is None or new.schema is None):
        texts = (old.schema or new.schema,) * 2  # one is not known: they cannot be compared
    else:
        texts = (old.schema, new.schema)
    kinds = (old.alias_analysis, new.alias_analysis)
    change = SchemaChange(
        *texts,
        tuple(sorted(new.tags - old.tags)),
        tuple(sorted(old.tags - new.tags)),
        None if kinds[0] == kinds[1] else kinds,
    )
    return change if change.schema_differs or any(change[2:]) else None


def _registrations(
    old: Mapping[str, tuple[KernelView, ...]], new: Mapping[str, tuple[KernelView, ...]]
) -> list[RegistrationChange]:
    changes = []
    for key, before in old.items():
        after = new.get(key)
        if after is None:
            changes.append(RegistrationChange(key, ChangeKind.REMOVED, before, ()))
        elif before != after:
            if not same_active(before, after):
                changes.append(RegistrationChange(key, ChangeKind.REPLACED, before, after))
            elif len(before) != len(after) or not all(map(same_kernel, before, after)):
                changes.append(RegistrationChange(key, ChangeKind.BENEATH, before, after))
    changes += [RegistrationChange(key, ChangeKind.ADDED, (), new[key]) for key in new if key not in old]
    return changes


def _python(old: OperatorView, new: OperatorView) -> Iterator[PythonChange]:
    for key in dict.fromkeys((*old.python_kernels, *new.python_kernels)):
        before, after = old.python_kernels.get(key), new.python_kernels.get(key)
        if before != after:
            yield PythonChange(key, before, after)
