"""An operator over the embedded PyTorch versions: in which it exists, and what changed in which of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.history.changes import changes_in, concerning, is_empty, limited
from dispatch_cli.answers.history.key import HeldAtKey, held_at
from dispatch_cli.answers.history.rows import VersionChanges
from dispatch_cli.answers.history.versions import Versions
from dispatch_cli.engine.comparison.renames import Rename
from dispatch_cli.model.names import OperatorName


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

    schema: in the last version that has it; None of a higher-order operator, and of one without a schema.
    versions: those that have it. or_earlier: the oldest version has it, so that it may be older than that.
    schema_changed_in, registrations_changed_in, slots_changed_in: the versions in which these changed; of a
    higher-order operator, implementations are its registrations. Python kernels are registrations, too.
    renames: what it may have been called before, or may be called since. overloads: of an operator that is gone, the
    overloads of its name that the newest version has.
    changes: of the versions in which something changed; with a key, what concerns it. at_key: what it has at the key.
    """

    operator: str
    higher_order: bool
    schema: str | None
    versions: tuple[VersionRun, ...]
    or_earlier: bool
    schema_changed_in: tuple[str, ...]
    registrations_changed_in: tuple[str, ...]
    slots_changed_in: tuple[str, ...]
    renames: tuple[Rename, ...]
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


def history_report(
    versions: Versions,
    names: Sequence[str],
    higher_order: Sequence[str] = (),
    key: str | None = None,
    only: str | None = None,
) -> HistoryReport:
    """The histories of operators, by name, that some of the versions have; then those of higher-order operators.

    only: the kind of changes, as in `limited`.
    """
    descriptions = (versions.base(number).description for number in range(len(versions.names)))
    return HistoryReport(
        versions=tuple(HistoryVersion(description.name, description.torch) for description in descriptions),
        key=key,
        operators=(
            *(_history(versions, name, False, key, only) for name in names),
            *(_history(versions, name, True, key, only) for name in higher_order),
        ),
    )


def _history(versions: Versions, name: str, higher_order: bool, key: str | None, only: str | None) -> OperatorHistory:
    has = versions.with_operator(name, higher_order)
    changes = tuple(changes_in(versions, name, has, higher_order))
    renamed: tuple[Rename, ...] = ()
    if not higher_order:
        ends = [number for number in range(1, len(has)) if has[number] != has[number - 1]]
        renamed = tuple(rename for number in ends for rename in versions.renames(number, name))
    shown = (limited(change, only) for change in (changes if key is None else concerning(changes, key)))
    last = max(number for number, there in enumerate(has) if there)
    return OperatorHistory(
        operator=name,
        higher_order=higher_order,
        schema=None if higher_order else versions.view(last, name).schema,
        versions=tuple(_runs(versions.names, has)),
        or_earlier=has[0],
        schema_changed_in=tuple(row.version for row in changes if row.schema and row.schema.old != row.schema.new),
        registrations_changed_in=tuple(
            row.version
            for row in changes
            if row.registrations or row.moves or row.python_kernels or row.implementations
        ),
        slots_changed_in=tuple(row.version for row in changes if row.slots),
        renames=renamed,
        overloads=() if has[-1] or higher_order else _overloads(versions, name),
        changes=tuple(change for change in shown if not is_empty(change)),
        at_key=() if key is None else held_at(versions, name, key, has, higher_order, changes),
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
