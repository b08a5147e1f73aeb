"""An operator over the embedded versions: a summary, and a row for each change; of many operators, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from dispatch_cli.answers.history.changes import KeyFate, RegistrationRow, SchemaRow, SlotsRow, VersionChanges
from dispatch_cli.answers.history.report import HeldAtKey, HeldKind, HistoryReport, OperatorHistory
from dispatch_cli.answers.history.wording import (
    answer_text,
    causes_text,
    held_causes,
    held_text,
    kernels_text,
    short,
    there,
    version_runs,
)
from dispatch_cli.answers.shared.slot_row import KeyRuns
from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.model.schema_changes import SchemaPart
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Mark,
    Matrix,
    MatrixCell,
    MatrixHead,
    MatrixRow,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
)
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import plural, runs_label, short_function

MOST_RUNS = 5
"""So many runs of keys are shown; JSON and CSV have every key."""
_Cells = tuple[str, str, str, str, str]
"""what, where, before, after, why"""
_FATES = {KeyFate.NEW: "the key is new", KeyFate.GONE: "the key is gone", None: ""}
_KEY_FATES = {_FATES[KeyFate.NEW]: "new key", _FATES[KeyFate.GONE]: "key gone"}
_PARTS = {SchemaPart.ARGUMENT: "argument", SchemaPart.ORDER: "order of arguments", SchemaPart.RETURN: "return"}
_REGISTERED = {
    ChangeKind.ADDED: "registered",
    ChangeKind.REMOVED: "removed",
    ChangeKind.REPLACED: "replaced",
    ChangeKind.BENEATH: "overridden",
}


class ChangeRow(NamedTuple):
    """A change. what: its kind. where: the keys, or the part of the schema. why: the cause."""

    operator: str
    version: str
    what: str
    where: str
    before: str
    after: str
    why: str


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
    for python in change.python_kernels:
        yield "python kernel", python.key, python.before or "", python.after or "", ""
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
        yield "schema", _PARTS[part.part], part.before or "", part.after or "", ""
    if row.tags_added or row.tags_removed:
        yield "tags", "", ", ".join(row.tags_removed), ", ".join(row.tags_added), ""
    if row.alias_analysis is not None:
        yield "alias analysis", "", *row.alias_analysis, ""


def document(report: HistoryReport) -> Iterator[Block]:
    """One operator with all its changes, or many with a line each."""
    if len(report.operators) == 1:
        yield from _whole(report, report.operators[0])
    else:
        yield from picture(report)


def _whole(report: HistoryReport, operator: OperatorHistory) -> Iterator[Block]:
    yield Paragraph(operator.operator, kind=ParagraphKind.TITLE)
    yield Paragraph(there(report, operator))
    if report.key is None:
        yield Paragraph(_counts(operator))
        if operator.schema is not None:
            yield Gap()
            yield Paragraph(operator.schema, hang=2)
        rows = [*merged_rows(operator)]
        if rows:
            yield Gap()
            yield TableBlock(CHANGES, rows)
    else:
        yield Gap()
        yield Paragraph(f"At {report.key}", kind=ParagraphKind.SECTION)
        yield TableBlock(HELD, operator.at_key)


def _counts(operator: OperatorHistory) -> str:
    """Sentence on the versions with changes of the schema, of registrations and of slots."""
    parts = (
        f"Its schema {_changed_in(operator.schema_changed_in)}",
        f"its registrations {_changed_in(operator.registrations_changed_in)}",
        f"its slots {_changed_in(operator.slots_changed_in)}",
    )
    return f"{'; '.join(parts)}."


def _changed_in(versions: tuple[str, ...]) -> str:
    if not versions:
        return "never changed"
    names = [*map(short, versions)]
    return f"changed in {' and '.join([', '.join(names[:-1]), names[-1]][len(names) < 2 :])}"


def picture(report: HistoryReport) -> Iterator[Block]:
    """A picture of what changed when; with a key, a line each with what the operator has there."""
    if report.key is None:
        yield history_matrix(report)
    else:
        at_key: Column[OperatorHistory] = Column(f"At {report.key}", lambda row, _: _at_key(row), Narrow.BELOW)
        yield TableBlock([*OPERATORS, at_key], report.operators)
    yield Gap()
    first, last = report.versions[0], report.versions[-1]
    text = f"{plural(len(report.operators), 'operator')} over {plural(len(report.versions), 'version')}"
    yield Paragraph(Run(f"{text}, {short(first.name)} to {short(last.name)}", Tone.DIM))


def history_matrix(report: HistoryReport) -> Matrix:
    """The operators over the versions. A cell's target: operator and version, where that has it."""
    rows = [MatrixRow(operator.operator, [*_events(report, operator)]) for operator in report.operators]
    return Matrix([MatrixHead(short(version.name)) for version in report.versions], rows, "Operator")


_DEFINED, _GONE = Mark("+", Tone.KERNEL, "defined"), Mark("-", Tone.BAD, "gone")
_SCHEMA, _REGISTRATIONS = Mark("s", Tone.WARN, "schema changed"), Mark("r", Tone.ALIAS, "registrations changed")
_TAGS = Mark("g", Tone.PLAIN, "tags or alias analysis changed")
_SLOTS, _SAME = Mark("t", Tone.FALLBACK, "slots changed"), Mark("\N{MIDDLE DOT}", Tone.DIM, "as before")


def _events(report: HistoryReport, operator: OperatorHistory) -> Iterator[MatrixCell]:
    """Events of an operator in each version."""
    changes = {change.version: change for change in operator.changes}
    names = [version.name for version in report.versions]
    runs = [(names.index(run.first), names.index(run.last)) for run in operator.versions]
    for number, name in enumerate(names):
        is_there = any(first <= number <= last for first, last in runs)
        was_there = any(first <= number - 1 <= last for first, last in runs)
        differences = [_DEFINED] * (is_there and not was_there and number > 0) + [_GONE] * (was_there and not is_there)
        if is_there and was_there and name in changes:
            change = changes[name]
            registered = change.registrations or change.python_kernels
            texts = change.schema is not None and change.schema.old != change.schema.new
            kinds = (
                (_SCHEMA, texts),
                (_TAGS, change.schema and not texts),
                (_REGISTRATIONS, registered),
                (_SLOTS, change.slots),
            )
            differences += [mark for mark, rows in kinds if rows]
        marks = tuple(differences or [_SAME] * is_there)
        yield MatrixCell(
            marks, ", ".join(mark.meaning for mark in marks), (operator.operator, name) if is_there else None
        )


def _at_key(operator: OperatorHistory) -> str:
    """Kernels at the key by runs of versions, without those that lack the operator: they are listed beside it."""
    runs = (held for held in operator.at_key if held.kind is not HeldKind.NO_OPERATOR)
    return "; ".join(f"{version_runs([held])}: {held_text(held)}" for held in runs)


OPERATORS: list[Column[OperatorHistory]] = [
    Column("Operator", lambda row, _: Run(row.operator, Tone.HEAD)),
    Column("Versions", lambda row, _: version_runs(row.versions)),
]
CHANGES: list[Column[ChangeRow]] = [
    Column("Since", lambda row, _: Run(row.version, Tone.HEAD)),
    Column("What", lambda row, _: row.what),
    Column("Where", lambda row, _: row.where),
    Column("Before", lambda row, brief: _side(row, row.before, brief)),
    Column("After", lambda row, brief: _side(row, row.after, brief)),
    Column("Because", lambda row, brief: _because(row.why, brief), Narrow.BELOW, optional=True),
]
HELD: list[Column[HeldAtKey]] = [
    Column("Versions", lambda held, _: Run(version_runs([held]), Tone.HEAD)),
    Column("Kernel", lambda held, _: held_text(held)),
    Column("Registered at", lambda held, _: Run(held.source or "", Tone.ALIAS), optional=True),
    Column("Because", lambda held, brief: _because(held_causes(held), brief), Narrow.BELOW, optional=True),
]


_ONE_SIDED = ("defined", "gone")
"""Changes of which one side says all."""


_OF_FILE = re.compile(r"\b(?:Register(?=[A-Z]))?(\w+?)(?:_\d+)?\.(?:cpp|py)\b")


def _side(row: ChangeRow, text: str, brief: bool) -> Run:
    """A side of a change; brief: Python functions without their modules, files by what tells them apart."""
    if not text and row.what not in _ONE_SIDED:
        return Run("nothing", Tone.DIM)
    if not brief:
        return Run(text)
    text = short_function(text) if row.what == "python kernel" else _OF_FILE.sub(r"\1", text)
    return Run(text.replace(" kernel]", "]").replace("[backend fallback]", "[fallback]"))


def _because(text: str, brief: bool) -> Run:
    return Run(f"cause: {text}" if text and brief else text, Tone.DIM)


def sheet(report: HistoryReport) -> Sheet:
    """A row for each change; with a key, also for what the operator has there."""
    rows = (row for operator in report.operators for row in change_rows(operator, report.key))
    return Sheet(ChangeRow._fields, rows)
