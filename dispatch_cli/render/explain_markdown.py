"""An explanation as Markdown: sections with tables, for a comment in a tracker."""

from __future__ import annotations

from collections.abc import Iterator

from dispatch_cli.render.advice import advice_label, advice_text
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
from dispatch_cli.render.machine import Sheet, markdown_text
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import keys_label, origin_place, runs_label, source_label
from dispatch_cli.report.explain import ExplainReport, SlotExplanation
from dispatch_cli.report.explain_alias import AliasExplanation, Run
from dispatch_cli.report.explain_error import ErrorReport


def explain_markdown(report: ExplainReport) -> Iterator[str]:
    """The answer, the rules, the registrations, the advice."""
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
        cells = (
            (one.key, kernel_label(one), role_label(one), origin_place(one.span, one.origin)) for one in what.concerned
        )
        yield from markdown_text(Sheet(("Registered at", "Kernel", "What it does", "Declared at"), cells))
        yield "\n"
    yield from _paragraphs(around_sentences(what))
    for advice in what.advice:
        yield f"**{advice_label(advice)}.** {_prose(advice_text(advice, report.operator))}\n\n"


def _runs_markdown(runs: tuple[Run, ...]) -> Iterator[str]:
    if runs:
        cells = (
            (
                keys_label(run.keys),
                kernel_label(run.row) if run.row.live_kernel is None else f"stale: live is {run.row.live_kernel}",
                run.row.rule.dump_text,
                source_label(run.row),
                ", ".join(run.row.blockers),
                origin_place(run.row.span, run.row.origin),
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
