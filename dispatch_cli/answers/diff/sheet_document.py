"""A comparison as a sheet: a row per difference."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.diff.report import DiffReport
from dispatch_cli.answers.diff.rows import DiffKernel
from dispatch_cli.answers.diff.wording import answer_words
from dispatch_cli.engine.comparison.sides import ChangeKind
from dispatch_cli.model.span import Span
from dispatch_cli.render.sheet import Sheet


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
    for rename in report.operators_renamed:
        yield Difference("operator", "renamed", rename.new, None, rename.old, rename.new)
    yield from _definitions(report)
    for row in report.registrations:
        active = (kernels[0] if kernels else None for kernels in (row.before, row.after))
        yield Difference("registration", row.change, row.operator, row.key, *_kernels(*active))
    for move in report.moved:
        keys, place = (" ".join(move.old_keys), " ".join(move.new_keys)), move.kernel.span
        yield Difference("registration", "moved", move.operator, None, *keys, move.kernel.kernel, new_declared_at=place)
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
