"""Blocks of the view of calls: the end, the steps, and each selection with its keys, thread and mask."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.keys import key_document as key
from dispatch_cli.answers.keys import key_set_document as key_set
from dispatch_cli.answers.keys.key import KeyReport
from dispatch_cli.answers.keys.key_set import KeySetReport
from dispatch_cli.answers.keys.outcomes import KeyOutcome
from dispatch_cli.answers.resolve import call_keys_document as call_keys
from dispatch_cli.answers.resolve import document as resolve
from dispatch_cli.answers.resolve import higher_order_document as resolve_higher_order
from dispatch_cli.answers.resolve.call_keys import CallKeysReport
from dispatch_cli.answers.resolve.higher_order import HigherOrderStep, ResolveHigherOrderReport
from dispatch_cli.answers.resolve.higher_order_wording import end_sentence as higher_order_end
from dispatch_cli.answers.resolve.higher_order_wording import step_lines
from dispatch_cli.answers.resolve.report import ResolveReport, StepReport
from dispatch_cli.answers.resolve.step_wording import kernel_label, kernel_phrase, step_sentence
from dispatch_cli.answers.resolve.wording import end_sentence, option_labels
from dispatch_cli.answers.table.higher_order.report import HigherOrderRow
from dispatch_cli.answers.table.wording import before_label
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.call import CallAnswered, Draft, call_arguments, called_operator, changed_steps
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    Run,
    TableBlock,
    Tone,
    lines,
)
from dispatch_cli.render.words import place_cell

CHANGED = "*"
"""The mark of a step that is another one than without the changes, or without the files."""


class StepLine(NamedTuple):
    """A step of a call. before: the step in its place without the changes, where it is another one."""

    step: StepReport
    is_changed: bool
    before: StepReport | None


class CalledLine(NamedTuple):
    """The operator that the kernel of the last step is known to call."""

    operator: OperatorName


class CallTarget(NamedTuple):
    """Target that a line opens: a slot, or another operator. span: the place of the kernel there."""

    key: str | None = None
    operator: OperatorName | None = None
    span: Span | None = None


def target_of(item: object) -> CallTarget | None:
    """Target of such a row of a table; None if it opens nothing."""
    if isinstance(item, StepLine):
        return CallTarget(item.step.hop.slot, span=item.step.entry.span)
    if isinstance(item, CalledLine):
        return CallTarget(operator=item.operator)
    if isinstance(item, HigherOrderStep):
        impl = item.hop.impl
        if item.hop.key == UNDEFINED:  # a higher-order operator has no such slot
            return None
        return CallTarget(item.hop.key, span=None if impl is None else impl.span)
    if not isinstance(item, KeyOutcome) or (item.key == UNDEFINED and isinstance(item.entry, HigherOrderRow)):
        return None
    return CallTarget(item.key, span=item.entry.span)


def refusal(problems: Sequence[Problem], draft: Draft | None) -> Iterator[Block]:
    """Why a call cannot be made. draft: the last one that could, whose answer is shown below."""
    for problem in problems:
        yield Paragraph(Run(f"! {problem.message}", Tone.BAD), hang=2)
        if problem.hint:
            yield Paragraph(Run(problem.hint, Tone.WARN), indent=2)
    if draft is None:
        return
    yield Gap()
    command = shlex.join(call_arguments(draft))
    yield Paragraph(Run(f"The last call that could be made: {command or 'without tensors'}", Tone.WARN))
    yield Gap()


def call_blocks(
    state: State, report: CallAnswered, before: CallAnswered | tuple[Problem, ...] | None = None, full: bool = False
) -> Iterator[Block]:
    """A call, the end first.

    before: the same call without the changes that are being tried, or why there is none. full: error texts are whole.
    """
    short = True
    if isinstance(report, ResolveHigherOrderReport):
        yield from resolve_higher_order.said(report, short, full, by="f")
        yield from _before(report, before, short)
        yield Gap()
        yield TableBlock(_higher_order_columns(), report.steps)
        yield from resolve_higher_order.keys(report)
        yield Gap()
        yield Facts([resolve_higher_order.thread_fact(report)])
        return
    yield from resolve.said(report, short, full, by="f")
    yield from _before(report, before, short)
    yield Gap()
    yield TableBlock(_step_columns(), [*_step_rows(state, report, before)])
    for stage in report.selections:
        yield Gap()
        yield from resolve.stage_keys(report, stage)
        if facts := [*resolve.stage_facts(report, stage)]:
            yield Gap()
            yield Facts(facts)
    if options := [Fact(name.capitalize(), label) for name, label in option_labels(report)]:
        yield Gap()
        yield Facts(options)


def key_blocks(state: State, report: CallKeysReport | KeyReport | KeySetReport, width: int) -> Iterator[Block]:
    """The key set of a call, a key, or a key set that was written."""
    if isinstance(report, CallKeysReport):
        yield from call_keys.document(report, width)
    elif isinstance(report, KeyReport):
        yield from key.document(report, width, universe=state.dispatcher.universe)
    else:
        yield from key_set.document(report, width)


def nothing_asked() -> Iterator[Block]:
    """Advice where there is no call, and no key set."""
    yield Paragraph("No tensor, no context and no key set is given: a adds a tensor, c a context.")


def _before(report: CallAnswered, before: CallAnswered | tuple[Problem, ...] | None, short: bool) -> Iterator[Block]:
    """Result of the call without the changes, where it differs."""
    if isinstance(before, tuple):
        yield Paragraph(Run(f"{CHANGED} Without the changes: {before[0].message}", Tone.WARN), hang=2)
    elif isinstance(before, ResolveReport) and isinstance(report, ResolveReport):
        ends = end_sentence(report, short), end_sentence(before, short)
        paths = [" > ".join(step.hop.slot for step in call_report.steps) for call_report in (report, before)]
        if ends[0] != ends[1]:
            yield Paragraph(Run(f"{CHANGED} Without the changes: {ends[1]}", Tone.WARN), hang=2)
        if paths[0] != paths[1]:
            yield Paragraph(Run(f"{CHANGED} Without the changes, the slots are {paths[1]}", Tone.WARN), hang=2)
    elif isinstance(before, ResolveHigherOrderReport) and isinstance(report, ResolveHigherOrderReport):
        ends = higher_order_end(report, short), higher_order_end(before, short)
        if ends[0] != ends[1]:
            yield Paragraph(Run(f"{CHANGED} Without the changes: {ends[1]}", Tone.WARN), hang=2)


def _step_rows(
    state: State, report: ResolveReport, before: CallAnswered | tuple[Problem, ...] | None
) -> Iterator[StepLine | CalledLine]:
    changed, name = changed_steps(report, before), OperatorName.parse(report.operator)
    for step in report.steps:
        yield StepLine(step, step.number in changed, changed.get(step.number))
        if (called := called_operator(state, name, step)) is not None:
            yield CalledLine(called)


def _step_columns() -> list[Column[StepLine | CalledLine]]:
    def number(row: StepLine | CalledLine, _: bool) -> Inline:
        if isinstance(row, CalledLine):
            return ""
        mark = CHANGED if row.is_changed or row.step.entry.before is not None else ""
        return Run(f"{row.step.number}{mark}", Tone.WARN if mark else Tone.HEAD)

    def slot(row: StepLine | CalledLine, _: bool) -> Inline:
        return "" if isinstance(row, CalledLine) else Run(row.step.hop.slot, Tone.HEAD)

    def does(row: StepLine | CalledLine, short: bool) -> Inline:
        if isinstance(row, CalledLine):
            return (Run("calls "), Run(str(row.operator), Tone.KERNEL))
        return _step_texts(row, short)

    def place(row: StepLine | CalledLine, _: bool) -> Inline:
        return "" if isinstance(row, CalledLine) else place_cell(row.step.entry.span)

    return [
        Column("Step", number, wraps=False),
        Column("Slot", slot, wraps=False),
        Column("What runs there", does),
        Column("Declared at", place, Narrow.BELOW, optional=True),
    ]


def _step_texts(row: StepLine, short: bool) -> tuple[Run, ...]:
    """Texts on a step: its action, and its differences."""
    step = row.step
    sentence = step_sentence(step, short).removeprefix(f"{step.hop.slot}: ")
    texts = [Run(sentence, resolve.DOES_TONES.get(step.hop.does, Tone.PLAIN))]
    if step.canonical is not None:
        texts.append(Run(f"stale: should be {kernel_label(step.canonical, short)}", Tone.BAD, breaks=True))
    if row.is_changed:
        was = row.before
        text = "there is no such step" if was is None else f"{kernel_phrase(was, short)} at {was.hop.slot}"
        texts.append(Run(f"without the changes: {text}", Tone.WARN, breaks=True))
    if step.entry.before is not None:
        texts.append(Run(f"before: {before_label(step.entry.before, short)}", Tone.WARN, breaks=True))
    return tuple(texts)


def _higher_order_columns() -> list[Column[HigherOrderStep]]:
    def does(step: HigherOrderStep, short: bool) -> Inline:
        return lines(*(text.removeprefix(f"{step.hop.key}: ") for text in step_lines(step, short)))

    def place(step: HigherOrderStep, _: bool) -> Inline:
        return place_cell(None if step.hop.impl is None else step.hop.impl.span)

    return [
        Column("Step", lambda step, _: Run(str(step.number), Tone.HEAD), wraps=False),
        Column("Key", lambda step, _: Run(step.hop.key, Tone.HEAD), wraps=False),
        Column("What runs there", does),
        Column("Declared at", place, Narrow.BELOW, optional=True),
    ]
