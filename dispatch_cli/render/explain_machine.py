"""An explanation for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dispatch_cli.render.advice import advice_data
from dispatch_cli.render.machine import origin_data, span_data
from dispatch_cli.render.table_machine import row_data
from dispatch_cli.report.error_text import DumpLine
from dispatch_cli.report.explain import SCHEMA_VERSION, Cause, ExplainReport, SlotExplanation
from dispatch_cli.report.explain_alias import AliasExplanation, BlockExplanation, Registered, Run
from dispatch_cli.report.explain_error import ErrorReport
from dispatch_cli.report.python_table import PythonRow
from dispatch_cli.report.table import TableRow


def explain_json(report: ExplainReport) -> Iterator[str]:
    """The whole explanation; ``kind`` says whether it is of a slot, an alias key or a functionality."""
    what = report.what
    data: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "report": "explain",
        "universe": report.universe,
        "over": list(report.over),
        "over_assumed": report.assumed,
        "operator": report.operator,
        "schema": report.schema,
        "declared_at": span_data(report.span),
        **origin_data(report.origin),
        "new": report.new,
        "key": what.key,
        "error": None if report.error is None else _error_data(report.error),
    }
    if isinstance(what, SlotExplanation):
        data |= {"kind": "slot", **_slot_data(what, report.operator)}
    elif isinstance(what, AliasExplanation):
        data |= {"kind": "alias", **_alias_data(what)}
    else:
        data |= {"kind": "functionality", **_block_data(what)}
    yield f"{json.dumps(data, indent=2)}\n"


def _slot_data(what: SlotExplanation, operator: str) -> dict[str, Any]:
    return {
        "answer": row_data(what.row),
        "rules": [
            {
                "number": line.number,
                "rule": "has-backend-kernel" if line.rule is None else line.rule.value,
                "looks_at": list(line.looks_at),
                "outcome": line.state.value,
                "reached": line.reached,
                "blockers": list(line.blockers),
            }
            for line in what.rules
        ],
        "registrations": [
            {
                "rule_number": one.number,
                "role": one.role.value,
                "key": one.key,
                "kernel": one.kernel,
                "fallthrough": one.fallthrough,
                "backend_fallback": one.fallback,
                "core_fallback": one.core,
                "declared_at": span_data(one.span),
                **origin_data(one.origin),
            }
            for one in what.concerned
        ],
        "next": _optional(what.next),
        "next_is_overridden": what.next_is_overridden,
        "live": _optional(what.live),
        "cause": None if what.cause is None else _cause_data(what.cause),
        "above": _optional(what.above),
        "below": _optional(what.below),
        "python": None if what.python is None else _python_data(what.python),
        "advice": [advice_data(advice, operator) for advice in what.advice],
    }


def _python_data(row: PythonRow) -> dict[str, Any]:
    return {
        "rule": row.decision.rule.value,
        "kernel": row.kernel,
        "source": row.decision.source,
        "python": row.python,
        "error": row.error,
        "declared_at": span_data(row.span),
    }


def _optional(row: TableRow | None) -> dict[str, Any] | None:
    return None if row is None else row_data(row)


def _cause_data(cause: Cause) -> dict[str, Any]:
    return {
        "key": cause.key,
        "kernel": cause.kernel,
        "change": "registered" if cause.came else "dropped",
        "backend_fallback": cause.fallback,
        "declared_at": span_data(cause.span),
    }


def _alias_data(what: AliasExplanation) -> dict[str, Any]:
    return {
        "registered": [_registered_data(one) for one in what.registered],
        "fills": [key for run in what.fills for key in run],
        "lost": [_run_data(run) for run in what.lost],
        "uncovered": [key for run in what.uncovered for key in run],
        "stale": [_run_data(run) for run in what.stale],
    }


def _block_data(what: BlockExplanation) -> dict[str, Any]:
    return {
        "registered": [_registered_data(one) for one in what.registered],
        "slots": [_run_data(run) for run in what.slots],
    }


def _registered_data(one: Registered) -> dict[str, Any]:
    return {
        "kernel": one.kernel,
        "fallthrough": one.fallthrough,
        "active": one.active,
        "declared_at": span_data(one.span),
    }


def _run_data(run: Run) -> dict[str, Any]:
    return {
        "keys": list(run.keys),
        "answer": {name: value for name, value in row_data(run.row).items() if name != "key"},
    }


def _error_data(error: ErrorReport) -> dict[str, Any]:
    text = error.text
    return {
        "file": error.file,
        "kind": text.kind.value,
        "operator": text.operator,
        "key": text.key,
        "line": text.line,
        "reproduced": error.reproduced,
        "operator_from_text": error.from_text,
        "table_lines": error.lines,
        "differences": None
        if error.differences is None
        else [
            {
                "kind": one.kind.value,
                "keys": list(one.keys),
                "there": _line_data(one.there),
                "here": _line_data(one.here),
            }
            for one in error.differences
        ],
        "others": [{"operator": operator, "key": key} for operator, key in error.others],
    }


def _line_data(line: DumpLine | None) -> dict[str, Any] | None:
    if line is None:
        return None
    return {"kernel": line.kernel, "fallthrough": line.fallthrough, "rule": line.rule.value}
