"""A simulated call of a higher-order operator: the answer, the keys of its selections, the steps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus
from dispatch_cli.answers.resolve.document import answer, heading, key_columns, path, tone
from dispatch_cli.answers.resolve.higher_order import HigherOrderStep, ResolveHigherOrderReport
from dispatch_cli.answers.resolve.higher_order_wording import (
    deferred_sentence,
    end_sentence,
    fake_mode_sentences,
    holds_label,
    impl_label,
    step_lines,
)
from dispatch_cli.answers.resolve.wording import thread_lines
from dispatch_cli.answers.table.higher_order.report import HigherOrderRow
from dispatch_cli.render.document import (
    Block,
    Column,
    Fact,
    Facts,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
    lines,
)
from dispatch_cli.render.drawn_path import DrawnPath
from dispatch_cli.render.words import place_cell


def document(
    report: ResolveHigherOrderReport, width: int | None = None, full: bool = False, drawn: Sequence[DrawnPath] = ()
) -> Iterator[Block | DrawnPath]:
    """The answer, the keys of the first selection and of the last, the steps. Arguments: as of a resolved call."""
    short = width is not None
    effect = ", with a side effect" if report.side_effect else ""
    yield from heading(report, f"{report.operator} (higher-order operator{effect})", place="declared")
    yield from summary(report, short, full)
    yield from drawn
    yield from stages(report, short)


def summary(report: ResolveHigherOrderReport, short: bool, full: bool = False, by: str = "--full") -> Iterator[Block]:
    """Verdict on the call, and the sentences after it."""
    yield from answer(report, end_sentence(report, short), full, by)
    if report.backward_error is not None:
        yield Paragraph(Run(deferred_sentence(report), Tone.WARN))
    if report.fake_modes is not None:
        yield from map(Paragraph, fake_mode_sentences(report.fake_modes))
    yield from path(step.hop.key for step in report.steps)


def stages(report: ResolveHigherOrderReport, short: bool) -> Iterator[Block]:
    """The keys of the first selection, and of the last one without what the thread excludes by then; the steps."""
    first, last = report.steps[0], report.steps[-1]
    yield Gap()
    yield _table(first, first.keys if last is first else _without(KeyStatus.NOT_REACHED, first))
    if last is not first:
        yield Gap()
        yield Paragraph(f"Step {last.number}", kind=ParagraphKind.SECTION)
        yield _table(last, _without(KeyStatus.EXCLUDED, last))
    yield Gap()
    thread = Fact("Thread", lines(*thread_lines(first.included, first.excluded)))
    steps = (Fact(f"Step {step.number}", lines(*step_lines(step, short)), step) for step in report.steps)
    yield Facts([thread, *steps])


def _without(status: KeyStatus, step: HigherOrderStep) -> list[KeyOutcome[HigherOrderRow]]:
    return [outcome for outcome in step.keys if outcome.status is not status]


def _table(
    step: HigherOrderStep, outcomes: Iterable[KeyOutcome[HigherOrderRow]]
) -> TableBlock[KeyOutcome[HigherOrderRow]]:
    columns = key_columns(len(step.hop.selection.arguments), {step.number: step.hop.does})
    return TableBlock([*columns, *COLUMNS], [*outcomes])


def _registered_for(outcome: KeyOutcome[HigherOrderRow], short: bool) -> Inline:
    label = impl_label(outcome)
    return Run(f"for {label}" if short and label else label, tone(outcome, Tone.PLAIN if short else Tone.ALIAS))


COLUMNS: list[Column[KeyOutcome[HigherOrderRow]]] = [
    Column("Holds", lambda outcome, short: Run(holds_label(outcome, short), tone(outcome))),
    Column("Registered for", _registered_for, Under("Holds"), wraps=False),
    Column("Declared at", lambda outcome, _: place_cell(outcome.entry.span), Narrow.BELOW, optional=True),
]
