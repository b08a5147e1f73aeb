"""Operators that came and went, and definitions that differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffOperator, DiffRename, DiffSchema
from dispatch_cli.answers.diff.sections_document import Fold, grouped, heading, namespace, table
from dispatch_cli.model.span import Span
from dispatch_cli.render.document import Block, Column, Fact, Facts, Narrow, Paragraph, Run, Tone, Under
from dispatch_cli.render.words import place_cell, plural, schema_label


def definitions(report: DiffReport, fold: Fold) -> Iterator[Block]:
    """Operators added, removed and renamed; schemas, tags and alias analysis."""
    yield from _operators("added", report.operators_added, fold)
    yield from _operators("removed", report.operators_removed, fold)
    if report.operators_renamed:
        yield from heading(f"{plural(len(report.operators_renamed), 'operator')} renamed")
        yield from table(_RENAMED, report.operators_renamed, fold, "operators")
    yield from _schemas([schema for schema in report.schemas if schema.old_schema != schema.new_schema], fold)
    yield from _tags(report.schemas, fold)
    analysis = [schema for schema in report.schemas if schema.new_alias_analysis is not None]
    if analysis:
        yield from heading(f"Alias analysis of {plural(len(analysis), 'operator')}")
        rows = grouped(analysis, lambda row: f"{row.old_alias_analysis} → {row.new_alias_analysis}")
        yield from table(_group_columns("Kind", fold), rows, fold, "kinds")


def _operators(what: str, rows: Sequence[DiffOperator], fold: Fold) -> Iterator[Block]:
    if not rows:
        return
    yield from heading(f"{plural(len(rows), 'operator')} {what}")
    if fold.lists(rows):
        yield from table(_OPERATORS, rows, fold, "operators")
    else:
        groups = grouped(rows, lambda row: namespace(row.operator))
        yield from table(_group_columns("Namespace", fold), groups, fold, "namespaces")


def _schemas(rows: Sequence[DiffSchema], fold: Fold) -> Iterator[Block]:
    if not rows:
        return
    yield from heading(f"{plural(len(rows), 'schema')} changed")
    if fold.lists(rows):
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
        yield from table(_group_columns("Change", fold), groups, fold, "changes")


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
    if tagged:
        yield from heading(f"Tags of {plural(len({operator for _, operator in tagged}), 'operator')}")
        groups = [(tag, [operator for _, operator in pairs]) for tag, pairs in grouped(tagged, lambda pair: pair[0])]
        yield from table(_group_columns("Tag", fold), groups, fold, "tags")


def _group_columns(header: str, fold: Fold) -> list[Column[tuple[str, list[DiffOperator | DiffSchema | str]]]]:
    return [
        Column(header, lambda row, _: row[0]),
        Column("Count", lambda row, _: f"{len(row[1]):,}", right=True),
        fold.examples(lambda row: [*map(_name, row[1])]),
    ]


def _name(row: DiffOperator | DiffSchema | str) -> str:
    return row if isinstance(row, str) else row.operator


_OPERATORS: list[Column[DiffOperator]] = [
    Column("Operator", lambda row, _: schema_label(row.operator, row.schema)),
    Column("Declared at", lambda row, _: place_cell(row.span), Narrow.BELOW, optional=True),
]
_RENAMED: list[Column[DiffRename]] = [
    Column("Before", lambda row, _: row.old),
    Column("Now", lambda row, _: row.new, Under("Before")),
]
