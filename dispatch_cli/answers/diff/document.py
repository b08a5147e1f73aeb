"""Two states held against each other: schemas, registrations and further parts, grouped for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import (
    DiffFallback,
    DiffHigherOrder,
    DiffKernel,
    DiffKey,
    DiffOperator,
    DiffPythonKernel,
    DiffRefused,
    DiffRegistration,
    DiffSchema,
)
from dispatch_cli.answers.diff.sections_document import Fold, cells, grouped, heading, namespace, section, slots
from dispatch_cli.answers.diff.wording import (
    CHANGES,
    NOTHING,
    answer_words,
    kernel_words,
    kernels_words,
    outcome,
    sides_label,
)
from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import Universe
from dispatch_cli.render.document import Block, Column, Fact, Facts, Gap, Inline, Narrow, Paragraph, Run, Tone, Under
from dispatch_cli.render.sheet import Sheet
from dispatch_cli.render.words import place_cell, plural, schema_label, short_function

_REFUSED: list[Column[DiffRefused]] = [
    Column("Change", lambda row, _: CHANGES[row.change]),
    Column("Operator", lambda row, _: row.operator or "", optional=True),
    Column("Reason", lambda row, _: row.message, Under("Change")),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]
_OPERATORS: list[Column[DiffOperator]] = [
    Column("Operator", lambda row, _: schema_label(row.operator, row.schema)),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]
WAYS = "--op GLOB, --key KEY and --only show parts, --format json or csv has all."


def registrations(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Registrations of operators that both sides have."""
    rows = report.registrations
    title = f"{plural(len(rows), 'registration')} changed"
    if fold.lists(rows):
        yield from section(title, _REGISTRATIONS, rows, fold, "registrations")
    else:
        groups = grouped(rows, lambda row: (CHANGES[row.change], row.key, namespace(row.operator)))
        yield from section(title, _groups(fold), groups, fold)


def others(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Python kernels, higher-order operators, fallbacks, and keys that one universe has alone."""
    title = f"{plural(len(report.fallbacks), 'backend fallback')} changed"
    yield from section(title, _FALLBACKS, report.fallbacks, fold, "fallbacks")
    title = f"{plural(len(report.python_kernels), 'Python kernel')} changed"
    if fold.lists(report.python_kernels):
        yield from section(title, _PYTHON, report.python_kernels, fold, "kernels")
    else:
        groups = grouped(report.python_kernels, lambda row: (_what(row), row.key, namespace(row.operator)))
        yield from section(title, _groups(fold), groups, fold)
    title = f"{plural(len(report.higher_order_operators), 'higher-order operator')} changed"
    yield from section(title, _HIGHER_ORDER, report.higher_order_operators, fold, "operators")
    yield from section("Keys that only one universe has", _keys(fold), report.keys, fold, "keys")


def refused(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Registrations that PyTorch refuses, of one side alone."""
    title = f"{plural(len(report.refused), 'registration')} that PyTorch refuses, in one of the two only"
    yield from section(title, _REFUSED, report.refused, fold, "registrations")


def _what(row: DiffPythonKernel) -> str:
    return "another function" if row.change is ChangeKind.REPLACED else row.change.value


def _impls(row: DiffHigherOrder, _: bool) -> Inline:
    """The implementations that differ; of an operator that only one side has, which."""
    if row.change is not ChangeKind.REPLACED:
        return str(row.change.value)
    texts = [
        f"{impl.name or impl.kind.value}: {_function(impl.before)} → {_function(impl.after)}" for impl in row.impls
    ] or ["its effects"]
    return tuple(Run(text, breaks=position > 0) for position, text in enumerate(texts))


def _function(name: str | None) -> str:
    return NOTHING if name is None else short_function(name)


def _first(kernels: tuple[DiffKernel, ...]) -> DiffKernel | None:
    return kernels[0] if kernels else None


def _place(kernel: DiffKernel | None) -> Run:
    return place_cell(None if kernel is None else kernel.span)


def _groups(fold: Fold) -> list[Column[tuple[tuple[str, str, str], list[DiffRegistration | DiffPythonKernel]]]]:
    return [
        Column("Key", lambda row, _: row[0][1]),
        Column("Change", lambda row, _: row[0][0]),
        Column("Namespace", lambda row, _: row[0][2]),
        Column("Count", lambda row, _: f"{len(row[1]):,}", right=True),
        fold.examples(lambda row: [change.operator for change in row[1]]),
    ]


def _keys(fold: Fold) -> list[Column[DiffKey]]:
    return [
        Column("Key", lambda row, _: f"{row.key} [alias]" if row.alias else row.key),
        Column("Only in", lambda row, _: row.side),
        Column("Registrations", lambda row, _: f"{len(row.operators):,}", right=True, short_header="Reg."),
        Column("Fallback", lambda row, _: "" if row.fallback is None else kernel_words(row.fallback), optional=True),
        fold.examples(lambda row: row.operators),
    ]


_REGISTRATIONS: list[Column[DiffRegistration]] = [
    Column("Operator", lambda row, _: row.operator),
    Column("Key", lambda row, _: Run(row.key, Tone.ALIAS), Under("Operator")),
    Column("Change", lambda row, _: CHANGES[row.change], wraps=False),
    Column("Kernel", lambda row, _: kernels_words(_first(row.before), _first(row.after)), Under("Operator")),
    Column("Declared at", lambda row, _: _place(_first(row.after) or _first(row.before)), Narrow.BELOW, optional=True),
]
_FALLBACKS: list[Column[DiffFallback]] = [
    Column("Key", lambda row, _: row.key),
    Column("Change", lambda row, _: "another one" if row.change is ChangeKind.REPLACED else row.change.value),
    Column("Fallback", lambda row, _: kernels_words(row.before, row.after), Under("Key")),
    Column("Declared at", lambda row, _: _place(row.after or row.before), Narrow.BELOW, optional=True),
]
_PYTHON: list[Column[DiffPythonKernel]] = [
    Column("Operator", lambda row, _: row.operator),
    Column("Key", lambda row, _: row.key),
    Column("Change", lambda row, _: f"{_function(row.before)} → {_function(row.after)}", Under("Operator")),
]
_HIGHER_ORDER: list[Column[DiffHigherOrder]] = [
    Column("Operator", lambda row, _: row.name),
    Column("Change", _impls, Under("Operator")),
]


def definitions(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Operators added and removed; schemas, tags and alias analysis."""
    yield from _operators("added", report.operators_added, fold)
    yield from _operators("removed", report.operators_removed, fold)
    yield from _schemas([schema for schema in report.schemas if schema.old_schema != schema.new_schema], fold)
    yield from _tags(report.schemas, fold)
    analysis = [schema for schema in report.schemas if schema.new_alias_analysis is not None]
    rows = grouped(analysis, lambda row: f"{row.old_alias_analysis} → {row.new_alias_analysis}")
    title = f"Alias analysis of {plural(len(analysis), 'operator')}"
    yield from section(title, _group_columns("Kind", fold), rows, fold, "kinds")


def _operators(what: str, rows: Sequence[DiffOperator], fold: Fold) -> Iterator[Block]:
    title = f"{plural(len(rows), 'operator')} {what}"
    if fold.lists(rows):
        yield from section(title, _OPERATORS, rows, fold, "operators")
    else:
        groups = grouped(rows, lambda row: namespace(row.operator))
        yield from section(title, _group_columns("Namespace", fold), groups, fold, "namespaces")


def _schemas(rows: Sequence[DiffSchema], fold: Fold) -> Iterator[Block]:
    title = f"{plural(len(rows), 'schema')} changed"
    if rows and fold.lists(rows):
        yield from heading(title)
        for row in rows:
            places = _places(row.old_declared_at, row.new_declared_at)
            yield Paragraph(
                (
                    Run(row.operator, Tone.HEAD),
                    Run(f": {'; '.join(row.changes)}" if row.changes else ""),
                    Run(places, Tone.PLACE),
                ),
                indent=2,
                hang=2,
            )
            texts = [schema_label(row.operator, text) for text in (row.old_schema, row.new_schema)]
            yield Facts([Fact("before", texts[0]), Fact("now", texts[1])], indent=4, tone=Tone.DIM)
    else:
        groups = grouped(rows, lambda row: "; ".join(row.changes) or "another text")
        yield from section(title, _group_columns("Change", fold), groups, fold, "changes")


def _places(old: Span | None, new: Span | None) -> str:
    places = dict.fromkeys(str(span) for span in (old, new) if span is not None)
    return f" ({' → '.join(places)})" if places else ""


def _tags(rows: Sequence[DiffSchema], fold: Fold) -> Iterator[Block]:
    tagged = [
        (f"{sign}{tag}", row.operator)
        for row in rows
        for sign, tags in (("+", row.tags_added), ("-", row.tags_removed))
        for tag in tags
    ]
    title = f"Tags of {plural(len({operator for _, operator in tagged}), 'operator')}"
    groups = [(tag, [operator for _, operator in pairs]) for tag, pairs in grouped(tagged, lambda pair: pair[0])]
    yield from section(title, _group_columns("Tag", fold), groups, fold, "tags")


def _group_columns(header: str, fold: Fold) -> list[Column[tuple[str, list[DiffOperator | DiffSchema | str]]]]:
    return [
        Column(header, lambda row, _: row[0]),
        Column("Count", lambda row, _: f"{len(row[1]):,}", right=True),
        fold.examples(lambda row: [*map(_name, row[1])]),
    ]


def _name(row: DiffOperator | DiffSchema | str) -> str:
    return row if isinstance(row, str) else row.operator


def document(
    report: DiffReport, *, universes: tuple[Universe, Universe], each: bool = False, ways: str = WAYS
) -> Iterator[Block]:
    """The counts, then a section for each kind of difference.

    universes: of both sides. each: nothing is grouped or left out. ways: to see what is left out.
    """
    sides = sides_label(report.old, report.new)
    yield Paragraph((Run(sides, Tone.HEAD), Run(f": {outcome(report)}.")), is_verdict=True)
    fold = Fold(each)
    yield from definitions(report, fold)
    yield from registrations(report, fold)
    yield from refused(report, fold)
    yield from slots(report, fold, universes)
    yield from cells(report, fold)
    yield from others(report, fold)
    if fold.left_out:
        yield Gap()
        yield Paragraph(Run(f"Not all is listed: {ways}", Tone.DIM))


class Difference(NamedTuple):
    """A row of the sheet. because: of a refused registration the reason."""

    what: str
    change: ChangeKind | str
    operator: str | None = None
    key: str | None = None
    old: object = None
    new: object = None
    because: object = None
    old_declared_at: Span | None = None
    new_declared_at: Span | None = None


def sheet(report: DiffReport) -> Sheet:
    """A row per difference; of slots one for each operator and key."""
    return Sheet(Difference._fields, _rows(report))


def _rows(report: DiffReport) -> Iterator[Difference]:
    for added in report.operators_added:
        yield Difference("operator", ChangeKind.ADDED, added.operator, new=added.schema, new_declared_at=added.span)
    for gone in report.operators_removed:
        yield Difference("operator", ChangeKind.REMOVED, gone.operator, old=gone.schema, old_declared_at=gone.span)
    yield from _definitions(report)
    for row in report.registrations:
        active = (kernels[0] if kernels else None for kernels in (row.before, row.after))
        yield Difference("registration", row.change, row.operator, row.key, *_kernels(*active))
    for fallback in report.fallbacks:
        yield Difference("fallback", fallback.change, None, fallback.key, *_kernels(fallback.before, fallback.after))
    for python in report.python_kernels:
        yield Difference("python", python.change, python.operator, python.key, python.before, python.after)
    for operator in report.higher_order_operators:
        if not operator.impls:
            yield Difference("higher-order", operator.change, operator.name)
        for impl in operator.impls:
            place_name = impl.name or impl.kind.value
            yield Difference("higher-order", operator.change, operator.name, place_name, impl.before, impl.after)
    for key in report.keys:
        for name in (None, *key.operators):
            yield Difference("key", f"only in {key.side}", name, key.key)
    for refused in report.refused:
        places = (refused.span, None) if refused.change is ChangeKind.REMOVED else (None, refused.span)
        yield Difference("refused", refused.change, refused.operator, None, None, None, refused.message, *places)
    yield from _slots(report)
    for cell in report.cells:
        yield Difference(
            "cell",
            "changed",
            cell.operator,
            cell.backend,
            f"{cell.context.value}: {cell.before.value}",
            f"{cell.context.value}: {cell.after.value}",
            cell.new_reason or cell.old_reason,
            cell.old_declared_at,
            cell.new_declared_at,
        )


def _definitions(report: DiffReport) -> Iterator[Difference]:
    for schema in report.schemas:
        operator, places = schema.operator, (schema.old_declared_at, schema.new_declared_at)
        if schema.old_schema != schema.new_schema:
            sides, why = (schema.old_schema, schema.new_schema), "; ".join(schema.changes)
            yield Difference("schema", ChangeKind.REPLACED, operator, None, *sides, why, *places)
        if schema.tags_added or schema.tags_removed:
            tags = (schema.tags_removed, schema.tags_added)
            yield Difference("tags", ChangeKind.REPLACED, operator, None, *tags, None, *places)
        if schema.new_alias_analysis is not None:
            kinds = (schema.old_alias_analysis, schema.new_alias_analysis)
            yield Difference("alias-analysis", ChangeKind.REPLACED, operator, None, *kinds, None, *places)


def _slots(report: DiffReport) -> Iterator[Difference]:
    for group in report.slots:
        why = tuple(f"{cause.kind.value}:{cause.key}" for cause in group.causes)
        answers = answer_words(group.before), answer_words(group.after)
        for operator in group.operators:
            places = [None if kernel is None else kernel.span for kernel in (operator.before, operator.after)]
            for key in group.keys:
                yield Difference("slot", "changed", operator.operator, key, *answers, why, *places)


def _kernels(
    old: DiffKernel | None, new: DiffKernel | None
) -> tuple[str | None, str | None, None, Span | None, Span | None]:
    return old and old.kernel, new and new.kernel, None, old and old.span, new and new.span
