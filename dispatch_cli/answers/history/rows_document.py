"""The changes of an operator as rows of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.answers.history.report import OperatorHistory
from dispatch_cli.answers.history.rows import KeyFate, RegistrationRow, SchemaRow, SlotsRow, VersionChanges
from dispatch_cli.answers.history.wording import (
    answer_text,
    causes_text,
    held_causes,
    held_text,
    kernel_text,
    kernels_text,
    short,
)
from dispatch_cli.answers.shared.folding import KeyRuns
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.model.schema_part import SchemaPart, SchemaPartChange
from dispatch_cli.render.words import runs_label


class ChangeRow(NamedTuple):
    """A change. what: its kind. where: the keys, or the part of the schema. why: the cause."""

    operator: str
    version: str
    what: str
    where: str
    before: str
    after: str
    why: str


MOST_RUNS = 5
"""So many runs of keys are shown; JSON and CSV have every key."""
_Cells = tuple[str, str, str, str, str]
"""what, where, before, after, why"""
_FATES = {KeyFate.NEW: "the key is new", KeyFate.GONE: "the key is gone", None: ""}
_KEY_FATES = {_FATES[KeyFate.NEW]: "new key", _FATES[KeyFate.GONE]: "key gone"}
_PARTS = {
    SchemaPart.ARGUMENT: "argument",
    SchemaPart.ORDER: "order of arguments",
    SchemaPart.RETURN: "return",
}
_REGISTERED = {
    ChangeKind.ADDED: "registered",
    ChangeKind.REMOVED: "removed",
    ChangeKind.REPLACED: "replaced",
    ChangeKind.BENEATH: "overridden",
}


def change_rows(operator: OperatorHistory, key: str | None) -> Iterator[ChangeRow]:
    """Every change, also what it has at a key; the version is the name of the state."""
    for held in operator.at_key:
        yield ChangeRow(operator.operator, held.first, "at-key", key or "", "", held_text(held), held_causes(held))
    if operator.or_earlier:
        yield ChangeRow(operator.operator, operator.versions[0].first, "defined", "", "", "", "or earlier")
    for change in operator.changes:
        for cells in _cells(change, whole=True):
            yield ChangeRow(operator.operator, change.version, cells[0].replace(" ", "-"), *cells[1:])


def merged_rows(operator: OperatorHistory) -> Iterator[ChangeRow]:
    """The changes as people read them: each version is named once, and a registration is told with its own slot."""
    for change in operator.changes:
        version = short(change.version)
        for what, where, before, after, why in _cells(change, whole=False):
            fate = _KEY_FATES.get(why)
            cells = (what, where, before, after, why) if fate is None else (fate, where, before, after, "")
            yield ChangeRow(operator.operator, version, *cells)
            version = ""


def _cells(change: VersionChanges, whole: bool) -> Iterator[_Cells]:
    """whole: with the whole schemas, and with a slot and its own registration each for itself."""
    if change.change is not ChangeKind.REPLACED:
        kernels = f"kernels at {', '.join(change.registered_at)}" if change.registered_at else ""
        yield "defined" if change.change is ChangeKind.ADDED else "gone", "", "", kernels, ""
    if change.schema is not None:
        yield from _schema(change.schema, whole)
    own = {} if whole else _own_slots(change.slots)
    for registration in change.registrations:
        yield _registration(registration, own.get(registration.key))
    for move in change.moves:
        yield "moved", kernel_text(move.kernel), ", ".join(move.old_keys), ", ".join(move.new_keys), ""
    for python in change.python_kernels:
        yield "python kernel", python.key, python.before or "", python.after or "", ""
    for impl in change.implementations:
        yield "implementation", impl.name or impl.kind.value, impl.before or "", impl.after or "", ""
    shown = {id(own[registration.key]) for registration in change.registrations if registration.key in own}
    for row in change.slots:
        if id(row) not in shown:
            sides = answer_text(row.before), answer_text(row.after)
            keys = " ".join(row.keys.keys) if whole else _keys(row.keys)
            yield "slots", keys, *sides, causes_text(row.causes, row.after.source, len(row.keys.keys))


def _keys(runs: KeyRuns) -> str:
    """Keys in runs; of very many runs the first ones."""
    if len(runs) <= MOST_RUNS:
        return runs_label(runs)
    shown = runs[: MOST_RUNS - 1]
    more = len(runs.keys) - sum(map(len, shown))
    return f"{runs_label(shown)} and {more} more keys"


def _own_slots(rows: Iterable[SlotsRow]) -> dict[str, SlotsRow]:
    """The rows of one slot each that change because of what is registered at their own key, by key."""
    return {
        row.keys.keys[0]: row
        for row in rows
        if len(row.keys.keys) == 1 and [cause.key for cause in row.causes] == [row.keys.keys[0]]
    }


def _registration(row: RegistrationRow, slot: SlotsRow | None) -> _Cells:
    what, why = _REGISTERED[row.change], _FATES[row.key_is]
    if slot is not None:
        return what, row.key, answer_text(slot.before), answer_text(slot.after), why
    return what, row.key, kernels_text(row.before), kernels_text(row.after), why


def _schema(row: SchemaRow, whole: bool) -> Iterator[_Cells]:
    if row.old != row.new and (whole or not row.parts):
        yield "schema", "", row.old or "", row.new or "", ""
    for part in row.parts:
        yield "schema", _PARTS[part.part], *_part(part, whole), ""
    if row.tags_added or row.tags_removed:
        yield "tags", "", ", ".join(row.tags_removed), ", ".join(row.tags_added), ""
    if row.alias_analysis is not None:
        yield "alias analysis", "", *row.alias_analysis, ""


def _part(part: SchemaPartChange, whole: bool) -> tuple[str, str]:
    """Both sides; of an order only what lies between what both begin and end with."""
    before, after = part.before or "", part.after or ""
    if whole or part.part is not SchemaPart.ORDER:
        return before, after
    old, new = before.split(", "), after.split(", ")
    start = next(place for place, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1])
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    sides = (side[start : len(side) - end] for side in (old, new))
    shown = [", ".join([*["…"][: start > 0], *side, *["…"][: end > 0]]) for side in sides]
    return shown[0], shown[1]
