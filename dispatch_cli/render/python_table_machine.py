"""What Python's ``resolve_key`` chooses, for machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.python.table import Divergence, chosen_key
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.render.divergences import choice_label
from dispatch_cli.render.machine import Sheet, json_document, place_text, span_data
from dispatch_cli.render.wording import keys_label, runs_label
from dispatch_cli.report.divergences import choice
from dispatch_cli.report.python_table import (
    SCHEMA_VERSION,
    OperatorDifferences,
    PythonReport,
    PythonRow,
    PythonSummary,
    PythonTable,
    fold,
)


def python_table_json(report: PythonReport, head: dict[str, Any]) -> Iterator[str]:
    """Every slot of every operator. head: fields besides."""
    return json_document({**_head(report, "python-table"), **head}, "operators", map(_table_data, report.tables()))


def python_summary_json(report: PythonReport, head: dict[str, Any]) -> Iterator[str]:
    """Slots per rule of every operator. head: fields besides."""
    items = map(_summary_data, report.summaries())
    return json_document({**_head(report, "python-table-summary"), **head}, "operators", items)


def differences_json(report: PythonReport) -> Iterator[str]:
    """Every slot at which Python and C++ choose different keys."""
    head = {**_head(report, "python-differences"), "compared": len(report.names)}
    return json_document(head, "operators", map(_difference_data, report.differences()))


def _head(report: PythonReport, kind: str) -> dict[str, Any]:
    return {"schema_version": SCHEMA_VERSION, "report": kind, "universe": report.universe}


def _table_data(table: PythonTable) -> dict[str, Any]:
    return {
        "operator": table.operator,
        "schema": table.schema,
        "declared_at": span_data(table.span),
        "python_kernels": [
            {"key": one.dispatch_key, "kernel": one.kernel, "declared_at": span_data(one.span)} for one in table.kernels
        ],
        "entries": [_row_data(row) for row in table.rows],
    }


def _row_data(row: PythonRow) -> dict[str, Any]:
    return {
        "key": row.key,
        "chosen_key": chosen_key(row.key, row.decision),
        "rule": row.decision.rule.value,
        "rule_number": row.decision.number,
        "kernel": row.kernel,
        "python": row.python,
        "fallthrough": row.fallthrough,
        "core_fallback": row.core,
        "declared_at": span_data(row.span),
        "error": row.error,
        "differs": None if row.divergence is None else divergence_data(row.divergence),
    }


def divergence_data(one: Divergence) -> dict[str, Any]:
    """How C++ and Python decide a slot, and why they differ."""
    return {
        "cpp": _choice_data(one.cpp),
        "python": _choice_data(one.python),
        "reason": one.reason.value,
        "because": list(one.because),
    }


def _choice_data(decision: Decision) -> dict[str, Any]:
    rule, key = choice(decision)
    return {"rule": rule.value, "kernel_at": key}


def _summary_data(summary: PythonSummary) -> dict[str, Any]:
    return {
        "operator": summary.operator,
        "declared_at": span_data(summary.span),
        "slots": {rule.value: summary.counts.get(rule, 0) for rule in Rule},
        "differs": summary.different,
    }


def _difference_data(one: OperatorDifferences) -> dict[str, Any]:
    slots = [{"key": divergence.key, **divergence_data(divergence)} for divergence in one.divergences]
    return {"operator": one.operator, "slots": slots}


def python_table_sheet(report: PythonReport) -> Sheet:
    """Every slot a row."""
    columns = (
        "operator",
        "key",
        "chosen_key",
        "rule",
        "kernel",
        "python",
        "fallthrough",
        "declared_at",
        "error",
        "cpp",
        "reason",
        "because",
    )
    return Sheet(columns, (_row_cells(table.operator, row) for table in report.tables() for row in table.rows))


def _row_cells(operator: str, row: PythonRow) -> tuple[str, ...]:
    return (
        operator,
        row.key,
        chosen_key(row.key, row.decision) or "",
        row.decision.rule.value,
        row.kernel or "",
        "true" if row.python else "false",
        "true" if row.fallthrough else "false",
        place_text(row.span),
        row.error or "",
        *_difference_cells(row.divergence),
    )


def _difference_cells(one: Divergence | None) -> tuple[str, str, str]:
    if one is None:
        return "", "", ""
    rule, key = choice(one.cpp)
    return key or rule.value, one.reason.value, " ".join(one.because)


def folded_python_sheet(report: PythonReport) -> Sheet:
    """Folded rows, for reading."""
    columns = ("Operator", "Key", "Kernel", "Rule", "From", "C++ chooses", "Because of", "Declared at")
    return Sheet(columns, _folded(report))


def _folded(report: PythonReport) -> Iterator[tuple[str, ...]]:
    for table in report.tables():
        folded = fold(table.rows)
        for run in folded.rows:
            row, one = run.first, run.first.divergence
            kernel = row.kernel or f"error: {row.error}"
            kernel = f"Python {kernel}" if row.python else f"fallthrough {kernel}" if row.fallthrough else kernel
            source = row.decision.source if row.decision.rule is not Rule.KERNEL else None
            differs = ("", "") if one is None else (choice_label(choice(one.cpp)), ", ".join(one.because))
            rule, place = row.decision.rule.dump_text, place_text(row.span)
            yield (table.operator, keys_label(run.keys), kernel, rule, source or "", *differs, place)
        below = (("PyTorch's own", Rule.FALLBACK, folded.core_fallbacks), ("error", Rule.MISSING, folded.missing))
        for kernel, decided, runs in below:
            if runs:
                yield (table.operator, runs_label(runs), kernel, decided.dump_text, "", "", "", "")


def python_summary_sheet(report: PythonReport) -> Sheet:
    """One row per operator."""
    columns = ("operator", *(rule.value for rule in Rule), "differs", "declared_at")
    return Sheet(columns, map(_summary_cells, report.summaries()))


def _summary_cells(summary: PythonSummary) -> tuple[str, ...]:
    counts = (str(summary.counts.get(rule, 0)) for rule in Rule)
    return (summary.operator, *counts, str(summary.different), place_text(summary.span))


def differences_sheet(report: PythonReport) -> Sheet:
    """Every slot that is decided otherwise a row."""
    columns = ("operator", "key", "cpp_rule", "cpp_key", "python_rule", "python_key", "reason", "because")
    rows = (_slot_cells(one.operator, divergence) for one in report.differences() for divergence in one.divergences)
    return Sheet(columns, rows)


def _slot_cells(operator: str, one: Divergence) -> tuple[str, ...]:
    (cpp_rule, cpp_key), (python_rule, python_key) = choice(one.cpp), choice(one.python)
    cpp, python = (cpp_rule.value, cpp_key or ""), (python_rule.value, python_key or "")
    return (operator, one.key, *cpp, *python, one.reason.value, " ".join(one.because))
