"""Blocks of the view of calls: the end, the steps, and each selection with its keys, thread and mask."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.keys import key_document as key
from dispatch_cli.answers.keys.key import KeyReport, KeySetReport
from dispatch_cli.answers.keys.key_document import key_set_document
from dispatch_cli.answers.keys.outcomes import KeyOutcome
from dispatch_cli.answers.resolve import document as resolve
from dispatch_cli.answers.resolve import higher_order_document as resolve_higher_order
from dispatch_cli.answers.resolve.call_keys import CallKeysReport
from dispatch_cli.answers.resolve.document import call_keys_document
from dispatch_cli.answers.resolve.higher_order import HigherOrderStep, ResolveHigherOrderReport
from dispatch_cli.answers.resolve.report import StepReport
from dispatch_cli.answers.resolve.wording import option_labels
from dispatch_cli.answers.table.higher_order.report import HigherOrderRow
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.call import CallAnswered, Draft, call_arguments, called_operator
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import UNDEFINED
from dispatch_cli.render.document import (
    Block,
    Fact,
    Facts,
    Gap,
    Paragraph,
    Run,
    Tone,
)


class CallTarget(NamedTuple):
    """Target that a line opens: a slot, or another operator. span: the place of the kernel there."""

    key: str | None = None
    operator: OperatorName | None = None
    span: Span | None = None


def target_of(item: object) -> CallTarget | None:
    """Target of a row, a fact or a paragraph; None if it opens nothing."""
    link = item.link if isinstance(item, Fact | Paragraph) else item
    if isinstance(link, CallTarget):
        return link
    if isinstance(link, StepReport):
        return CallTarget(link.hop.slot, span=link.entry.span)
    if isinstance(link, HigherOrderStep):
        impl, key = link.hop.impl, link.hop.key
        # a higher-order operator has no such slot
        return None if key == UNDEFINED else CallTarget(key, span=None if impl is None else impl.span)
    if not isinstance(link, KeyOutcome) or (link.key == UNDEFINED and isinstance(link.entry, HigherOrderRow)):
        return None
    return CallTarget(link.key, span=link.entry.span)


def refusal(problems: Sequence[Problem], draft: Draft | None) -> Iterator[Block]:
    """The problems of a call that cannot be made. draft: the last one that could, whose answer is shown below."""
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


def call_blocks(state: State, report: CallAnswered, full: bool = False) -> Iterator[Block]:
    """A call, the end first. full: error texts are whole."""
    if isinstance(report, ResolveHigherOrderReport):
        yield from resolve_higher_order.summary(report, full, by="f")
        yield from resolve_higher_order.stages(report)
        return
    yield from resolve.summary(report, full, by="f")
    for step in report.steps:
        if (called := called_operator(state, OperatorName.parse(report.operator), step)) is not None:
            words = Run(f"{step.hop.slot} calls "), Run(str(called), Tone.KERNEL)
            yield Paragraph(words, link=CallTarget(operator=called))
    yield from resolve.stages(report)
    if options := [Fact(name.capitalize(), label) for name, label in option_labels(report)]:
        yield Gap()
        yield Facts(options)


def key_blocks(state: State, report: CallKeysReport | KeyReport | KeySetReport, width: int) -> Iterator[Block]:
    """The key set of a call, a key, or a key set that was written."""
    if isinstance(report, CallKeysReport):
        yield from call_keys_document(report, width)
    elif isinstance(report, KeyReport):
        yield from key.document(report, width, universe=state.dispatcher.universe)
    else:
        yield from key_set_document(report, width)


def nothing_asked() -> Iterator[Block]:
    """Advice where there is no call, and no key set."""
    yield Paragraph("No tensor, no context and no key set is given: a adds a tensor, c a context.")
