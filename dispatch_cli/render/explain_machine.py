"""An explanation for machines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from dispatch_cli.render.advice import advice_text
from dispatch_cli.render.explain_error_wording import difference_cells, error_sentences
from dispatch_cli.render.explain_wording import (
    alias_sentences,
    around_sentences,
    block_sentences,
    kernel_label,
    looks_at_label,
    role_label,
    rule_label,
    slot_sentences,
    state_label,
)
from dispatch_cli.render.machine import Sheet, markdown_text, place_text, span_data
from dispatch_cli.render.table_machine import row_data
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import keys_label, runs_label, source_label
from dispatch_cli.report.error_text import DumpLine
from dispatch_cli.report.explain import SCHEMA_VERSION, Cause, ExplainReport, SlotExplanation
from dispatch_cli.report.explain_alias import AliasExplanation, BlockExplanation, Registered, Run
from dispatch_cli.report.explain_error import ErrorReport
from dispatch_cli.report.notes import Note
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
            }
            for one in what.concerned
        ],
        "next": _optional(what.next),
        "next_is_overridden": what.next_is_overridden,
        "live": _optional(what.live),
        "cause": None if what.cause is None else _cause_data(what.cause),
        "above": _optional(what.above),
        "below": _optional(what.below),
        "advice": [_advice_data(note, operator) for note in what.notes],
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


def _advice_data(note: Note, operator: str) -> dict[str, Any]:
    return {
        "kind": note.kind.value,
        "keys": list(note.keys),
        "culprits": list(note.culprits),
        "register_at": list(note.remedies),
        "text": advice_text(note, operator),
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


def explain_markdown(report: ExplainReport) -> Iterator[str]:
    """Sections with tables, for a comment in a tracker."""
    what = report.what
    yield f"## `{_code(report.operator)}` at `{_code(what.key)}`\n\n"
    if report.schema is not None:
        yield f"`{_code(report.schema)}`\n\n"
    if report.error is not None:
        yield from _error_markdown(report, report.error)
    if isinstance(what, SlotExplanation):
        yield from _slot_markdown(report, what)
    elif isinstance(what, AliasExplanation):
        yield from _paragraphs(alias_sentences(what))
        yield f"Fills: {_prose(runs_label(what.fills) or 'nothing')}\n\n"
        yield from _runs_markdown((*what.lost, *what.stale))
        yield f"Not covered: {_prose(runs_label(what.uncovered) or 'nothing')}\n"
    else:
        yield from _paragraphs(block_sentences(what))
        yield from _runs_markdown(what.slots)


def _slot_markdown(report: ExplainReport, what: SlotExplanation) -> Iterator[str]:
    yield from _paragraphs(slot_sentences(report, what))
    rules = (
        (str(line.number), rule_label(line, False), looks_at_label(line.looks_at), state_label(line))
        for line in what.rules
    )
    yield from markdown_text(Sheet(("Rule", "Meaning", "Looks at", "Outcome"), rules))
    yield "\n"
    if what.concerned:
        cells = ((one.key, kernel_label(one), role_label(one), place_text(one.span)) for one in what.concerned)
        yield from markdown_text(Sheet(("Registered at", "Kernel", "What it does", "Declared at"), cells))
        yield "\n"
    yield from _paragraphs(around_sentences(what))
    for note in what.notes:
        yield f"**Advice.** {_prose(advice_text(note, report.operator))}\n\n"


def _runs_markdown(runs: tuple[Run, ...]) -> Iterator[str]:
    if runs:
        cells = (
            (
                keys_label(run.keys),
                kernel_label(run.row) if run.row.live_kernel is None else f"stale: live is {run.row.live_kernel}",
                run.row.rule.dump_text,
                source_label(run.row),
                ", ".join(run.row.blockers),
                place_text(run.row.span),
            )
            for run in runs
        )
        yield from markdown_text(Sheet(("Key", "Kernel", "Rule", "From", "In the way", "Declared at"), cells))
        yield "\n"


def _error_markdown(report: ExplainReport, error: ErrorReport) -> Iterator[str]:
    yield from _paragraphs(error_sentences(report, error))
    if error.differences:
        cells = (difference_cells(one, short=False) for one in error.differences)
        yield from markdown_text(Sheet(("Key", "In the text", "Here"), cells))
        yield "\n"


def _paragraphs(sentences: Iterator[str]) -> Iterator[str]:
    for sentence in sentences:
        yield f"{_prose(sentence)}\n\n"


_PROSE = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|~#"})


def _prose(text: str) -> str:
    return safe(text).translate(_PROSE)


def _code(text: str) -> str:
    return safe(text).replace("`", "'")
