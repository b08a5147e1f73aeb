"""A comparison as a sheet: a row per difference."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffKernel, DiffRefused
from dispatch_cli.answers.diff.wording import answer_words
from dispatch_cli.engine.comparison.identity import ChangeKind
from dispatch_cli.model.span import Span
from dispatch_cli.render.sheet import Sheet

COLUMNS = ("what", "change", "operator", "key", "old", "new", "because", "old_declared_at", "new_declared_at")


def sheet(report: DiffReport) -> Sheet:
    """A row per difference; of slots one for each operator and key."""
    return Sheet(COLUMNS, _rows(report))


def _rows(report: DiffReport) -> Iterator[tuple[object, ...]]:
    for added in report.operators_added:
        yield ("operator", ChangeKind.ADDED, added.operator, None, None, added.schema, None, None, added.span)
    for gone in report.operators_removed:
        yield ("operator", ChangeKind.REMOVED, gone.operator, None, gone.schema, None, None, gone.span, None)
    for rename in report.operators_renamed:
        yield ("operator", "renamed", rename.new, None, rename.old, rename.new, None, None, None)
    yield from _definitions(report)
    for row in report.registrations:
        yield ("registration", row.change, row.operator, row.key, *_kernels(row.before, row.after))
    for move in report.moved:
        keys = (" ".join(move.old_keys), " ".join(move.new_keys))
        yield ("registration", "moved", move.operator, None, *keys, move.kernel.kernel, None, move.kernel.span)
    for fallback in report.fallbacks:
        sides = (() if kernel is None else (kernel,) for kernel in (fallback.before, fallback.after))
        yield ("fallback", fallback.change, None, fallback.key, *_kernels(*sides))
    for python in report.python_kernels:
        yield ("python", python.change, python.operator, python.key, python.before, python.after, None, None, None)
    for operator in report.higher_order_operators:
        if not operator.impls:
            yield ("higher-order", operator.change, operator.name, None, None, None, None, None, None)
        for impl in operator.impls:
            place = impl.name or impl.kind.value
            yield ("higher-order", operator.change, operator.name, place, impl.before, impl.after, None, None, None)
    for key in report.keys:
        yield ("key", f"only in {key.side}", None, key.key, None, None, None, None, None)
        for name in key.operators:
            yield ("key", f"only in {key.side}", name, key.key, None, None, None, None, None)
    for refused in report.refused:
        yield _refused(refused)
    yield from _slots(report)
    for cell in report.cells:
        answers = (f"{cell.context.value}: {verdict.value}" for verdict in (cell.before, cell.after))
        places = cell.old_declared_at, cell.new_declared_at
        yield ("cell", "changed", cell.operator, cell.backend, *answers, cell.new_reason or cell.old_reason, *places)


def _definitions(report: DiffReport) -> Iterator[tuple[object, ...]]:
    for schema in report.schemas:
        places = (schema.old_declared_at, schema.new_declared_at)
        if schema.old_schema != schema.new_schema:
            why = "; ".join(schema.changes)
            yield (
                "schema",
                ChangeKind.REPLACED,
                schema.operator,
                None,
                schema.old_schema,
                schema.new_schema,
                why,
                *places,
            )
        if schema.tags_added or schema.tags_removed:
            tags = (schema.tags_removed, schema.tags_added)
            yield ("tags", ChangeKind.REPLACED, schema.operator, None, *tags, None, *places)
        if schema.new_alias_analysis is not None:
            kinds = (schema.old_alias_analysis, schema.new_alias_analysis)
            yield ("alias-analysis", ChangeKind.REPLACED, schema.operator, None, *kinds, None, *places)


def _refused(row: DiffRefused) -> tuple[object, ...]:
    """The reason is in the column of causes; the place is that of the side that has it."""
    places = (row.span, None) if row.change is ChangeKind.REMOVED else (None, row.span)
    return ("refused", row.change, row.operator, None, None, None, row.message, *places)


def _slots(report: DiffReport) -> Iterator[tuple[object, ...]]:
    for group in report.slots:
        why = tuple(f"{cause.kind.value}:{cause.key}" for cause in group.causes)
        answers = answer_words(group.before), answer_words(group.after)
        for operator in group.operators:
            places = [None if kernel is None else kernel.span for kernel in (operator.before, operator.after)]
            for key in group.keys:
                yield ("slot", "changed", operator.operator, key, *answers, why, *places)


def _kernels(
    before: tuple[DiffKernel, ...], after: tuple[DiffKernel, ...]
) -> tuple[str | None, str | None, None, Span | None, Span | None]:
    old, new = (kernels[0] if kernels else None for kernels in (before, after))
    return old and old.kernel, new and new.kernel, None, old and old.span, new and new.span
