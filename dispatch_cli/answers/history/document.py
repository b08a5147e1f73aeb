"""An operator over the embedded versions: a summary, and a row for each change; of many operators, a line each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dispatch_cli.answers.history.key import HeldAtKey, HeldKind
from dispatch_cli.answers.history.report import HistoryReport, OperatorHistory
from dispatch_cli.answers.history.rows_document import ChangeRow, change_rows, merged_rows
from dispatch_cli.answers.history.wording import (
    held_causes,
    held_text,
    plural_versions,
    renamed,
    short,
    there,
    version_runs,
)
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
from dispatch_cli.render.words import plural, short_function


def document(report: HistoryReport, _: int | None = None) -> Iterator[Block]:
    """One operator with all its changes, or many with a line each."""
    if len(report.operators) == 1:
        yield from _whole(report, report.operators[0])
    else:
        yield from picture(report)


def _whole(report: HistoryReport, operator: OperatorHistory) -> Iterator[Block]:
    kind = " (higher-order operator)" if operator.higher_order else ""
    yield Paragraph((Run(operator.operator), Run(kind, Tone.DIM)), kind=ParagraphKind.TITLE)
    yield Paragraph(there(report, operator))
    for line in renamed(operator):
        yield Paragraph(line)
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
    if operator.higher_order:
        return f"Its implementations {_changed_in(operator.registrations_changed_in)}."
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
        yield from (Paragraph(f"{row.operator}: {line}") for row in report.operators for line in renamed(row))
    else:
        at_key: Column[OperatorHistory] = Column(f"At {report.key}", lambda row, _: _at_key(row), Narrow.BELOW)
        yield TableBlock([*OPERATORS, at_key], report.operators)
    yield Gap()
    first, last = report.versions[0], report.versions[-1]
    text = f"{plural(len(report.operators), 'operator')} over {plural_versions(len(report.versions))}"
    yield Paragraph(Run(f"{text}, {short(first.name)} to {short(last.name)}", Tone.DIM))


def history_matrix(report: HistoryReport) -> Matrix:
    """The operators over the versions. A cell's target: operator and version, where that has it."""
    rows = [MatrixRow(operator.operator, [*_cells(report, operator)]) for operator in report.operators]
    return Matrix([MatrixHead(short(version.name)) for version in report.versions], rows, "Operator")


_DEFINED, _GONE = Mark("+", Tone.KERNEL, "defined"), Mark("-", Tone.BAD, "gone")
_SCHEMA, _REGISTRATIONS = Mark("s", Tone.WARN, "schema changed"), Mark("r", Tone.ALIAS, "registrations changed")
_TAGS = Mark("g", Tone.PLAIN, "tags or alias analysis changed")
_SLOTS, _SAME = Mark("t", Tone.FALLBACK, "slots changed"), Mark("\N{MIDDLE DOT}", Tone.DIM, "as before")


def _cells(report: HistoryReport, operator: OperatorHistory) -> Iterator[MatrixCell]:
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
            registered = change.registrations or change.moves or change.python_kernels or change.implementations
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
    Column("Renamed", lambda row, _: "; ".join(renamed(row)), Narrow.BELOW, optional=True),
]
CHANGES: list[Column[ChangeRow]] = [
    Column("Since", lambda row, _: Run(row.version, Tone.HEAD)),
    Column("What", lambda row, _: row.what),
    Column("Where", lambda row, _: row.where),
    Column("Before", lambda row, brief: _side(row, row.before, brief)),
    Column("After", lambda row, brief: _side(row, row.after, brief)),
    Column(
        "Because",
        lambda row, _: Run(row.why, Tone.DIM),
        Narrow.BELOW,
        optional=True,
        below=lambda row: _because(row.why),
    ),
]
HELD: list[Column[HeldAtKey]] = [
    Column("Versions", lambda held, _: Run(version_runs([held]), Tone.HEAD)),
    Column("Kernel", lambda held, _: held_text(held)),
    Column("Registered at", lambda held, _: Run(held.source or "", Tone.ALIAS), optional=True),
    Column(
        "Because",
        lambda held, _: Run(held_causes(held), Tone.DIM),
        Narrow.BELOW,
        optional=True,
        below=lambda held: _because(held_causes(held)),
    ),
]


_ONE_SIDED = ("defined", "gone")
"""Changes of which one side says all."""
_FUNCTIONS = ("implementation", "python kernel")


_OF_FILE = re.compile(r"\b(?:Register(?=[A-Z]))?(\w+?)(?:_\d+)?\.(?:cpp|py)\b")


def _side(row: ChangeRow, text: str, brief: bool) -> Run:
    """A side of a change; brief: Python functions without their modules, files by what tells them apart."""
    if not text and row.what not in _ONE_SIDED:
        return Run("nothing", Tone.DIM)
    if not brief:
        return Run(text)
    text = short_function(text) if row.what in _FUNCTIONS else _OF_FILE.sub(r"\1", text)
    return Run(text.replace(" kernel]", "]").replace("[backend fallback]", "[fallback]"))


def _because(text: str) -> Run:
    return Run(f"because {text}", Tone.DIM)


def sheet(report: HistoryReport) -> Sheet:
    """A row for each change; with a key, also for what the operator has there."""
    rows = (row for operator in report.operators for row in change_rows(operator, report.key))
    return Sheet(ChangeRow._fields, rows)
