"""A simulated call for machines, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.call.trace import ChosenBy, End, Error, Handler, MaskKind, PythonChoice
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.keys.named_sets import components_of, functionalities_of
from dispatch_cli.render.advice import advice_text
from dispatch_cli.render.data import data_of
from dispatch_cli.render.machine import Sheet, json_document, markdown_line, markdown_text, place_text, span_data
from dispatch_cli.render.resolve_wording import (
    alternative_sentences,
    assumption,
    end_sentence,
    error_lines,
    excluded_sentences,
    from_label,
    mask_label,
    option_labels,
    outcome_kernel_label,
    outcome_rule,
    stage_title,
    status_label,
    step_sentence,
    tensor_count,
    thread_label,
)
from dispatch_cli.render.words import note_text
from dispatch_cli.report.key_outcomes import KeyOutcome
from dispatch_cli.report.key_set import hexadecimal
from dispatch_cli.report.notes import Note
from dispatch_cli.report.resolve import SCHEMA_VERSION, ResolveReport, Stage, StepReport, ThreadKeys
from dispatch_cli.report.table import TableRow


def resolve_json(report: ResolveReport) -> Iterator[str]:
    """Everything, with every key set."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "resolve",
        "universe": report.universe,
        "over": list(report.over),
        "operator": report.operator,
        "schema": report.schema,
        "declared_at": span_data(report.span),
        "tensors": list(report.tensors),
        "contexts": list(report.contexts),
        **report.options._asdict(),
        "keyset": report.keyset,
        "stopped_after": report.stopped,
        "end": None if report.end is None else end_data(report.end),
        "assumed": _assumed_data(report),
        "notes": [_note_data(note) for note in report.notes],
        "advice": [data_of(advice) for advice in report.advice],
        "alternatives": [one._asdict() for one in report.alternatives],
    }
    return json_document(head, "selections", map(_stage_data, report.stages))


def _assumed_data(report: ResolveReport) -> dict[str, Any] | None:
    """The steps whose kernels are assumed to do what is the convention; None where there are none."""
    text = assumption(report, short=False)
    return None if text is None else {"steps": [step.number for step in report.assumed_steps], "text": text}


def end_data(end: End) -> dict[str, Any]:
    """How a call ends."""
    error, handler = end.error, end.handler
    return {
        "kind": end.kind.value,
        "handler": None if handler is None else _handler_data(handler),
        "passed": list(map(_handler_data, end.passed)),
        "error": None if error is None else _error_data(error),
    }


def _handler_data(handler: Handler) -> dict[str, Any]:
    return {"kind": handler.kind.value, "name": handler.name, "position": handler.position + 1}


def _error_data(error: Error) -> dict[str, Any]:
    tensor = None if error.argument is None else error.argument + 1
    return {"kind": error.kind.value, "type": error.type, "text": error.text, "whole": error.whole, "tensor": tensor}


def _note_data(note: Note) -> dict[str, Any]:
    return {
        "kind": note.kind.value,
        "keys": list(note.keys),
        "culprits": list(note.culprits),
        "text": note_text(note),
    }


def set_data(keys: DispatchKeySet) -> dict[str, Any]:
    """A key set: its keys as PyTorch iterates them, and its bits, which can name more than its keys do."""
    return {
        "keys": list(keys),
        "functionalities": list(functionalities_of(keys)),
        "backends": list(components_of(keys)),
        "raw": hexadecimal(keys.bits),
    }


def _stage_data(stage: Stage) -> dict[str, Any]:
    return {
        "arguments": [{"tensor": one.text, "keyset": set_data(one.keys)} for one in stage.arguments],
        "generator": None if stage.generator is None else set_data(stage.generator),
        "keyset": set_data(stage.union),
        "included": thread_data(stage.included),
        "excluded": thread_data(stage.excluded),
        "unmasked": set_data(stage.unmasked),
        "mask": {"kind": stage.mask_kind.value, "backend": stage.backend, "keyset": set_data(stage.mask)},
        "result": set_data(stage.result),
        "keys": [_outcome_data(outcome) for outcome in stage.outcomes],
        "steps": [_step_data(step) for step in stage.steps],
    }


def thread_data(keys: ThreadKeys) -> dict[str, Any]:
    """What a thread includes, or excludes."""
    return {"functionalities": list(keys.keys), "added": list(keys.more), "removed": list(keys.less)}


def _outcome_data(outcome: KeyOutcome) -> dict[str, Any]:
    return {
        "key": outcome.key,
        "fate": outcome.status.value,
        "steps": list(outcome.steps),
        "tensors": list(outcome.tensors),
        "generator": outcome.generator,
        "included": outcome.included,
        "excluded_by_context": outcome.by_context,
        "entry": _row_data(outcome.row),
        "canonical": None if outcome.canonical is None else _row_data(outcome.canonical),
    }


def _row_data(row: TableRow) -> dict[str, Any]:
    return {
        "kernel": row.kernel,
        "rule": row.rule.value,
        "rule_number": row.rule_number,
        "source": row.source,
        "fallthrough": row.fallthrough,
        "core_fallback": row.core_fallback,
        "blockers": list(row.blockers),
        "declared_at": span_data(row.span),
    }


def _step_data(step: StepReport) -> dict[str, Any]:
    return {
        "number": step.number,
        "slot": step.slot,
        "entry": _row_data(step.row),
        "canonical": None if step.canonical is None else _row_data(step.canonical),
        "reached": step.reached.value,
        "keyset": set_data(step.keys),
        "does": step.does.value,
        "why": step.why.value,
        "passes": None if step.passes is None else set_data(step.passes),
        "excludes": None if step.excludes is None else list(functionalities_of(step.excludes)),
        "includes": None if step.includes is None else list(functionalities_of(step.includes)),
        "chosen_by": None if step.chosen_by is None else _options_data(step.chosen_by),
        "redispatches": None if step.declared is None else step.declared.data,
        "redispatches_declared_at": None if step.declared is None else span_data(step.declared.span),
        "python": None if step.python is None else _python_data(step.python),
    }


def _options_data(chosen_by: ChosenBy) -> dict[str, Any]:
    return {
        name: None if option is None else {"value": option.value, "from": option.origin.value}
        for name, option in chosen_by._asdict().items()
    }


def _python_data(choice: PythonChoice) -> dict[str, Any]:
    return {"rule": choice.decision.rule.value, "key": choice.key, "kernel": choice.kernel}


# Markdown


def resolve_markdown(report: ResolveReport) -> Iterator[str]:
    """The answer, then for each selection a table of its keys and a list of its steps."""
    yield markdown_line("**{}**", report.schema or report.operator)
    yield "\n"
    asked = [f"tensors: {'; '.join(report.tensors) or 'none'}"] if report.keyset is None or report.tensors else []
    asked += [f"key set: {report.keyset}"] if report.keyset is not None else []
    asked += [f"{name}: {label}" for name, label in option_labels(report)]
    asked += [f"contexts: {', '.join(report.contexts)}"] if report.contexts else []
    yield markdown_line("{}", ", ".join(asked))
    yield "\n"
    yield markdown_line("**{}**", end_sentence(report, short=False))
    for line in error_lines(report.end, short=False):
        yield "\n"
        yield markdown_line("> {}", line)
    assumed = assumption(report, short=False)
    said = [*excluded_sentences(report, short=False), *alternative_sentences(report)]
    said += [assumed] if assumed is not None else []
    said += [note_text(note) for note in report.notes]
    said += [f"Advice: {advice_text(one)}" for one in report.advice]
    for sentence in said:
        yield "\n"
        yield markdown_line("{}", sentence)
    for stage in report.stages:
        yield "\n"
        if stage is not report.stages[0]:
            yield markdown_line("{}", stage_title(report, stage))
            yield "\n"
        yield from markdown_text(_key_outcomes(stage))
        yield "\n"
        changes = (thread_label("includes", stage.included), thread_label("excludes", stage.excluded))
        differs = "; ".join(change for change in changes if change is not None)
        if stage.mask_kind is not MaskKind.NONE:
            yield markdown_line("- thread: {}", differs or "as by default")
        yield markdown_line("- mask: {}", mask_label(stage))
        yield from (markdown_line(f"{step.number}. {{}}", step_sentence(step, short=False)) for step in stage.steps)


def _key_outcomes(stage: Stage) -> Sheet:
    steps = {step.number: step for step in stage.steps}
    rows = (
        (
            outcome.key,
            from_label(outcome.tensors, outcome.included, tensor_count(stage), outcome.generator),
            status_label(outcome, steps),
            outcome_kernel_label(outcome, steps, short=False),
            outcome_rule(outcome, steps)[0].dump_text,
            outcome_rule(outcome, steps)[1],
            place_text(outcome.row.span),
        )
        for outcome in stage.outcomes
    )
    return Sheet(("Key", "From", "Step", "Kernel", "Rule", "Alias", "Declared at"), rows)
