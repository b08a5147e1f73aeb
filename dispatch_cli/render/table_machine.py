"""The computed table for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.machine import Sheet, json_document, origin_data, place_text, span_data
from dispatch_cli.render.wording import before_label, keys_label, note_text, runs_label, source_label
from dispatch_cli.report.folding import fold
from dispatch_cli.report.notes import Note
from dispatch_cli.report.table import SCHEMA_VERSION, Before, OperatorSummary, OperatorTable, TableReport, TableRow


def table_json(report: TableReport, head: dict[str, Any]) -> Iterator[str]:
    """Every slot of every operator, missing ones too. head: fields besides."""
    operators = (_operator_data(table) for table in report.tables())
    return json_document({**_head(report, "table"), **head}, "operators", operators)


def summary_json(report: TableReport, head: dict[str, Any]) -> Iterator[str]:
    """Slots per rule of every operator. head: fields besides."""
    operators = (_summary_data(summary) for summary in report.summaries())
    return json_document({**_head(report, "table-summary"), **head}, "operators", operators)


def _head(report: TableReport, kind: str) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "report": kind, "universe": report.universe}


def _operator_data(table: OperatorTable) -> dict[str, Any]:
    return {
        "operator": table.operator,
        "schema": table.schema,
        "declared_at": span_data(table.span),
        **origin_data(table.origin),
        "entries": [row_data(row) for row in table.rows],
        "notes": [_note_data(note) for note in table.notes],
    }


def _note_data(note: Note) -> dict[str, Any]:
    return {
        "kind": note.kind.value,
        "keys": list(note.keys),
        "culprits": list(note.culprits),
        "text": note_text(note),
    }


def row_data(row: TableRow) -> dict[str, Any]:
    """A slot as JSON data."""
    return {
        "key": row.key,
        "rule": row.rule.value,
        "rule_number": row.number,
        "kernel": row.kernel,
        "fallthrough": row.fallthrough,
        "source": row.source,
        "blockers": list(row.blockers),
        "core_fallback": row.core,
        "declared_at": span_data(row.span),
        **origin_data(row.origin),
        "stale": row.live_kernel is not None,
        "live_kernel": (row.live_kernel or None) if row.live_kernel is not None else row.kernel,
        "before": _before_data(row.before),
    }


def _before_data(before: Before | None) -> dict[str, Any] | None:
    if before is None:
        return None
    return {"rule": before.rule.value, "kernel": before.kernel, "fallthrough": before.fallthrough}


def _summary_data(summary: OperatorSummary) -> dict[str, Any]:
    return {
        "operator": summary.operator,
        "declared_at": span_data(summary.span),
        "slots": {rule.value: summary.counts.get(rule, 0) for rule in Rule},
        "stale": summary.stale,
        "changed": summary.changed,
    }


def table_sheet(report: TableReport) -> Sheet:
    """Every slot a row."""
    columns = (
        "operator",
        "key",
        "rule",
        "rule_number",
        "kernel",
        "fallthrough",
        "source",
        "blockers",
        "declared_at",
        "live_kernel",
        "before",
    )
    return Sheet(columns, (_row_cells(table, row) for table in report.tables() for row in table.rows))


def _row_cells(table: OperatorTable, row: TableRow) -> tuple[str, ...]:
    return (
        table.operator,
        row.key,
        row.rule.value,
        str(row.number),
        row.kernel or "",
        "true" if row.fallthrough else "false",
        row.source or "",
        " ".join(row.blockers),
        place_text(row.span),
        (row.kernel or "") if row.live_kernel is None else row.live_kernel,
        "" if row.before is None else before_label(row.before),
    )


def folded_sheet(report: TableReport, autograd_keys: frozenset[str]) -> Sheet:
    """Folded rows, for reading."""
    columns = ("Operator", "Key", "Kernel", "Rule", "From", "Why", "Declared at", "Before")
    return Sheet(columns, _folded_rows(report, autograd_keys))


def _folded_rows(report: TableReport, autograd_keys: frozenset[str]) -> Iterator[tuple[str, ...]]:
    for table in report.tables():
        folded = fold(table.rows, autograd_keys)
        for run in folded.rows:
            row = run.first
            kernel = "PyTorch's own" if row.core and len(run.keys) > 1 else row.kernel or ""
            if row.fallthrough:
                kernel = f"fallthrough {kernel}"
            if row.live_kernel is not None:
                kernel = f"{kernel} (stale: live is {row.live_kernel or 'nothing'})"
            why = "; ".join(note_text(note) for note in table.notes if not set(note.keys).isdisjoint(run.keys))
            rule = row.rule.dump_text
            before = "" if row.before is None else before_label(row.before)
            place = place_text(row.span)
            yield (table.operator, keys_label(run.keys), kernel, rule, source_label(row), why, place, before)
        below = (
            ("PyTorch's own", Rule.FALLBACK.dump_text, folded.core_fallbacks),
            ("fallthrough PyTorch's own", Rule.FALLBACK.dump_text, folded.core_fallthroughs),
            ("", Rule.MISSING.dump_text, folded.missing),
        )
        for kernel, rule, runs in below:
            if runs:
                yield (table.operator, runs_label(runs), kernel, rule, "", "", "", "")


def summary_sheet(report: TableReport) -> Sheet:
    """One row per operator."""
    columns = ("operator", *(rule.value for rule in Rule), "stale", "changed", "declared_at")
    return Sheet(columns, (_summary_cells(summary) for summary in report.summaries()))


def _summary_cells(summary: OperatorSummary) -> tuple[str, ...]:
    counts = (str(summary.counts.get(rule, 0)) for rule in Rule)
    return (summary.operator, *counts, str(summary.stale), str(summary.changed), place_text(summary.span))
