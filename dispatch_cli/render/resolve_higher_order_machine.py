"""A simulated call of a higher-order operator for machines, and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dispatch_cli.engine.call.higher_order.trace import AskedHandler, FakeModes
from dispatch_cli.engine.keys.named_sets import functionalities_of
from dispatch_cli.model.higher_order import HigherOrderImpl
from dispatch_cli.render.machine import Sheet, json_document, markdown_line, markdown_text, place_text, span_data
from dispatch_cli.render.resolve_higher_order_wording import (
    deferred_sentence,
    end_sentence,
    fake_mode_sentences,
    holds_label,
    rule_label,
    status_label,
    step_lines,
)
from dispatch_cli.render.resolve_machine import end_data, set_data, thread_data
from dispatch_cli.render.resolve_wording import error_lines, from_label
from dispatch_cli.report.resolve import SCHEMA_VERSION
from dispatch_cli.report.resolve_higher_order import HigherOrderKeyOutcome, HigherOrderStep, ResolveHigherOrderReport


def resolve_higher_order_json(report: ResolveHigherOrderReport) -> Iterator[str]:
    """Everything, with every key set."""
    head = {
        "schema_version": SCHEMA_VERSION,
        "report": "resolve-higher-order",
        "universe": report.universe,
        "over": list(report.over),
        "operator": report.operator,
        "side_effect": report.side_effect,
        "declared_at": span_data(report.span),
        "tensors": list(report.tensors),
        "contexts": list(report.contexts),
        "stopped_after": report.stopped,
        "end": None if report.end is None else end_data(report.end),
        "backward_error": report.deferred,
        "backward_error_is_certain": report.deferred_is_known if report.deferred is not None else None,
        "fake_modes": None if report.fake_modes is None else _fake_modes_data(report.fake_modes),
        "tracing_error": None if report.fake_modes is None else report.fake_modes.text,
    }
    return json_document(head, "steps", map(_step_data, report.steps))


def _fake_modes_data(modes: FakeModes) -> list[dict[str, Any]]:
    return [
        {"from": one.words, "number": one.number, "name": one.name or None, "position": one.position + 1}
        for one in (modes.first, modes.other)
    ]


def _step_data(step: HigherOrderStep) -> dict[str, Any]:
    return {
        "number": step.number,
        "key": step.key,
        "arguments": [{"tensor": one.text, "keyset": set_data(one.keys)} for one in step.arguments],
        "keyset": set_data(step.union),
        "included": thread_data(step.included),
        "excluded": thread_data(step.excluded),
        "unmasked": set_data(step.unmasked),
        "mask": set_data(step.mask),
        "result": set_data(step.result),
        "keys": [_outcome_data(outcome) for outcome in step.outcomes],
        "asked": [_asked_data(one) for one in step.asked],
        "rule": None if step.rule is None else _rule_data(step.rule),
        "resolved_from": None if step.entry is None else step.entry.decision.source,
        "needs_gradient": step.needs_gradient,
        "does": step.does.value,
        "known": step.known.value,
        "excludes": None if step.excludes is None else list(functionalities_of(step.excludes)),
        "takes_off": step.takes_off,
        "resumes": step.resumes,
    }


def _outcome_data(outcome: HigherOrderKeyOutcome) -> dict[str, Any]:
    return {
        "key": outcome.key,
        "fate": outcome.status.value,
        "tensors": list(outcome.tensors),
        "included": outcome.included,
        "slot": outcome.entry.slot.value,
        "rule": None if outcome.entry.rule is None else _rule_data(outcome.entry.rule),
        "resolved_from": outcome.entry.decision.source,
    }


def _asked_data(asked: AskedHandler) -> dict[str, Any]:
    return {
        "kind": asked.asker.value,
        "name": asked.name,
        "position": None if asked.position is None else asked.position + 1,
        "answer": asked.answer.value,
        "rule": None if asked.rule is None else _rule_data(asked.rule),
    }


def _rule_data(rule: HigherOrderImpl) -> dict[str, Any]:
    return {
        "kind": rule.kind.value,
        "name": rule.name or None,
        "kernel": rule.kernel,
        "declared_at": span_data(rule.span),
    }


# Markdown


def resolve_higher_order_markdown(report: ResolveHigherOrderReport) -> Iterator[str]:
    """The answer, the keys of each step's selection, and what the step does."""
    yield markdown_line("**{}**", f"{report.operator} (higher-order operator)")
    yield "\n"
    asked = [f"tensors: {'; '.join(report.tensors) or 'none'}"]
    asked += [f"contexts: {', '.join(report.contexts)}"] if report.contexts else []
    yield markdown_line("{}", ", ".join(asked))
    yield "\n"
    yield markdown_line("**{}**", end_sentence(report, short=False))
    said = [deferred_sentence(report)] if report.deferred is not None else []
    said += fake_mode_sentences(report.fake_modes) if report.fake_modes is not None else []
    for form, text in (
        *(("> {}", line) for line in error_lines(report.end, short=False)),
        *(("{}", text) for text in said),
    ):
        yield "\n"
        yield markdown_line(form, text)
    for step in report.steps:
        yield "\n"
        yield from markdown_text(_key_outcomes(step))
        yield "\n"
        yield from (markdown_line("- {}", line) for line in step_lines(step, short=False))


def _key_outcomes(step: HigherOrderStep) -> Sheet:
    rows = (
        (
            outcome.key,
            from_label(outcome.tensors, outcome.included, len(step.arguments)),
            status_label(outcome, step),
            holds_label(outcome, short=False),
            rule_label(outcome),
            "" if outcome.entry.rule is None else place_text(outcome.entry.rule.span),
        )
        for outcome in step.outcomes
    )
    return Sheet(("Key", "From", "Step", "Holds", "Rule for", "Declared at"), rows)
