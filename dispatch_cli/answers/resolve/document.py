"""A simulated call: the answer, the outcome of every key, thread, mask and steps; and the keys of a call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from dispatch_cli.answers.keys.outcomes import KeyOutcome, KeyStatus
from dispatch_cli.answers.resolve.call_request import CallKeysReport
from dispatch_cli.answers.resolve.report import RecordedCallReport, ResolveReport, Stage, StepReport
from dispatch_cli.answers.resolve.step_wording import (
    assumption,
    error_lines,
    fake_sentence,
    gradient_sentence,
    observed_sentence,
    step_sentence,
)
from dispatch_cli.answers.resolve.wording import (
    devices_sentence,
    end_sentence,
    excluded_sentences,
    from_label,
    lacks_all_tensors,
    left_out_sentence,
    mask_label,
    option_labels,
    outcome_kernel_label,
    outcome_rule,
    own_function_sentence,
    recorded_end_sentence,
    stage_title,
    status_label,
    tensor_count,
    thread_lines,
    unwrapped_sentence,
)
from dispatch_cli.answers.shared.slot_row import TableRow
from dispatch_cli.answers.table.wording import held_label, note_text
from dispatch_cli.checks.support_words import help_words
from dispatch_cli.engine.call.trace import Does, MaskKind
from dispatch_cli.render.document import (
    Block,
    Column,
    DrawnPath,
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
    lines,
)
from dispatch_cli.render.words import listed, over_label, place_cell, schema_label, undecided_lines

if TYPE_CHECKING:
    from dispatch_cli.answers.resolve.higher_order import ResolveHigherOrderReport


DOES_TONES = {Does.RAISES: Tone.BAD, Does.NOT_KNOWN: Tone.WARN, Does.ENDS: Tone.KERNEL, Does.DECOMPOSES: Tone.KERNEL}


def document(report: ResolveReport, full: bool = False, drawn: Sequence[DrawnPath] = ()) -> Iterator[Block | DrawnPath]:
    """The answer, then for each selection its keys and its steps.

    full: long texts of errors are whole. drawn: the picture of the call, for formats that have it.
    """
    options = [Fact(name.capitalize(), label) for name, label in option_labels(report)]
    yield from heading(report, schema_label(report.operator, report.schema), options)
    yield from summary(report, full)
    yield from drawn
    yield from stages(report)


def summary(report: ResolveReport, full: bool = False) -> Iterator[Block]:
    """Verdict on the call, and the sentences after it."""
    yield from answer(report, recorded_end_sentence(report) or end_sentence(report), full)
    if report.schema is None and report.steps:
        yield Paragraph("Nothing that was read defines it: this is the call once something else does.")
    if (devices := devices_sentence(report)) is not None:
        yield Paragraph(Run(devices, Tone.WARN), is_verdict=True)
    if report.refusal is not None and (helps := help_words(report.refusal)) is not None:
        yield Paragraph(f"What helps: {helps}.", is_verdict=True)
    yield from path(step.hop.slot for step in report.steps)
    own_function = own_function_sentence(report)
    if own_function is not None:
        yield Paragraph(own_function)
    if report.unwrapped is not None:
        yield Paragraph(unwrapped_sentence(report.unwrapped))
    if report.left_out and not lacks_all_tensors(report):
        yield Paragraph(left_out_sentence(report.left_out))
    sentences = [*excluded_sentences(report)]
    if isinstance(report, RecordedCallReport):
        if any(step.hop.does is Does.DECOMPOSES for step in report.steps):
            sentences.append("Which other operators it calls is decided by its code, not by dispatch.")
        sentences += [observed_sentence(report.predicted)] if report.predicted else []
    sentences += [] if report.gradient is None else [gradient_sentence(report.gradient)]
    sentences += [assumption(report.assumed)] if report.assumed is not None else []
    yield from map(Paragraph, (*sentences, *map(note_text, report.notes)))
    if report.advice:
        from dispatch_cli.answers.explain.advice_document import advice_lines

        for position, line in enumerate(advice_lines(report.advice)):
            yield Paragraph(line, is_verdict=report.fails and position == 0)


def stages(report: ResolveReport) -> Iterator[Block]:
    """The selections: the keys of each with their outcomes, the thread, the mask, the steps."""
    for stage in report.selections:
        yield Gap()
        if stage is not report.selections[0]:
            yield Paragraph(stage_title(report, stage), kind=ParagraphKind.SECTION)
        yield TableBlock(_columns(stage), _shown(report, stage))
        yield Gap()
        yield Facts([*_stage_facts(report, stage), *_steps(stage)])


def heading(
    report: ResolveReport | ResolveHigherOrderReport, title: str, options: Iterable[Fact] = (), place: str = "defined"
) -> Iterator[Block]:
    """The operator, and what the call is given. place: what its declaration is called."""
    yield Paragraph(title, kind=ParagraphKind.TITLE)
    if report.span is not None:
        yield Paragraph(Run(f"{place} at {report.span}", Tone.DIM))
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)
    keyset = report.keyset if isinstance(report, ResolveReport) else None
    facts = [] if keyset is None else [Fact("Key set", keyset)]
    if report.tensors or keyset is None:
        numbered = (f"{number} {text}" for number, text in enumerate(report.tensors, start=1))
        facts.append(Fact("Tensors", lines(*(numbered if len(report.tensors) > 1 else report.tensors or ("none",)))))
    facts += options
    if report.contexts:
        facts.append(Fact("Contexts", ", ".join(report.contexts)))
    yield Facts(facts)
    yield Gap()


def answer(report: ResolveReport | ResolveHigherOrderReport, sentence: str, full: bool) -> Iterator[Block]:
    """Verdict on the call, with the text of its error; full: a long one is whole, and no part of the verdict."""
    end = report.end
    yield Paragraph(Run(sentence, Tone.BAD if report.fails else Tone.HEAD), is_verdict=True)
    if error := error_lines(end, full):
        yield Paragraph(lines(*error), indent=2, kind=ParagraphKind.QUOTE, is_verdict=not full)
    if end is not None and end.fake is not None:
        yield Paragraph(fake_sentence(end.fake), is_verdict=report.fails)


def path(slots: Iterable[str]) -> Iterator[Block]:
    """The slots of several steps."""
    text = " > ".join(slots)
    if " > " in text:
        yield Paragraph(f"Slots: {text}")


def _shown(report: ResolveReport, stage: Stage) -> list[KeyOutcome[TableRow]]:
    """The keys worth a row: after the first selection without those that the thread excludes, which the steps name;
    before the last one without those below its last step, which the second call decides."""
    first, last = stage is report.selections[0], stage is report.selections[-1]
    return [
        outcome
        for outcome in stage.keys
        if (first or outcome.status is not KeyStatus.EXCLUDED) and (last or outcome.status is not KeyStatus.NOT_REACHED)
    ]


def key_columns(count: int, does: dict[int, Does]) -> list[Column[KeyOutcome[Any]]]:
    """A key, its source, and its outcome. count: of tensors. does: what each step does."""

    def status(outcome: KeyOutcome[Any], _: bool) -> Inline:
        label = status_label(outcome, does)
        if outcome.status is KeyStatus.RUNS:
            return Run(label, DOES_TONES.get(does[outcome.steps[-1]], Tone.PLAIN))
        taken_out = outcome.status in (KeyStatus.FALLS_THROUGH, KeyStatus.EXCLUDED)
        return Run(label, Tone.WARN if taken_out else Tone.DIM)

    return [
        Column("Key", lambda outcome, _: Run(outcome.key, tone(outcome, Tone.HEAD)), wraps=False),
        Column("From", lambda outcome, _: Run(from_label(outcome, count), tone(outcome)), wraps=False),
        Column("Step", status, wraps=False),
    ]


def tone(outcome: KeyOutcome[Any], runs: Tone = Tone.PLAIN) -> Tone:
    """The tone of a key. runs: where something runs at it."""
    return runs if outcome.status is KeyStatus.RUNS else Tone.DIM


def _columns(stage: Stage) -> list[Column[KeyOutcome[TableRow]]]:
    steps = {step.number: step for step in stage.steps}

    def last(outcome: KeyOutcome[TableRow]) -> StepReport | None:
        return steps[outcome.steps[-1]] if outcome.steps else None

    def kernel(outcome: KeyOutcome[TableRow], short: bool) -> Inline:
        run = Run(outcome_kernel_label(outcome, last(outcome), short), tone(outcome))
        if outcome.canonical is None:
            return run
        return (run, Run(f"stale: should be {held_label(outcome.canonical, short)}", Tone.BAD, breaks=True))

    def rule(outcome: KeyOutcome[TableRow], short: bool) -> Inline:
        chosen, _ = outcome_rule(outcome, last(outcome))
        return Run(chosen.value if short else chosen.dump_text, tone(outcome))

    def alias(outcome: KeyOutcome[TableRow], short: bool) -> Inline:
        _, source = outcome_rule(outcome, last(outcome))
        return Run(f"from {source}" if source and short else source, tone(outcome, Tone.ALIAS))

    return [
        *key_columns(tensor_count(stage.selection), {number: step.hop.does for number, step in steps.items()}),
        Column("Kernel", kernel),
        Column("Rule", rule, wraps=False),
        Column("Alias", alias, narrow=Narrow.BELOW, optional=True, wraps=False),
        Column("Declared at", lambda step, _: place_cell(step.entry.span), Narrow.BELOW, optional=True),
    ]


def _stage_facts(report: ResolveReport, stage: Stage) -> Iterator[Fact]:
    """The thread and the mask, of the first selection."""
    if stage is not report.selections[0]:
        return
    if stage.selection.mask.kind is not MaskKind.NONE:
        yield Fact("Thread", lines(*thread_lines(stage.included, stage.excluded)))
    yield Fact("Mask", mask_label(stage))


def _steps(stage: Stage) -> Iterator[Fact]:
    for step in stage.steps:
        runs = [Run(step_sentence(step))]
        if step.canonical is not None:
            canonical = held_label(step.canonical, True)
            sentence = f"stale: the registrations determine {canonical}, but the live table still holds this kernel"
            runs.append(Run(sentence, Tone.BAD, breaks=True))
        yield Fact(f"Step {step.number}", tuple(runs), step)


def call_keys_document(report: CallKeysReport) -> Iterator[Block]:
    """The tensors with their keys, the thread, and the set of the call."""
    from dispatch_cli.answers.keys.key_document import set_facts

    called = ", ".join(tensor.tensor for tensor in report.tensors) or "no tensors"
    within = f" in {', '.join(report.contexts)}" if report.contexts else ""
    yield Paragraph(f"Keys of a call with {called}{within}", kind=ParagraphKind.TITLE)
    yield Paragraph(Run(f"in {report.universe}", Tone.DIM))
    yield Gap()
    yield Facts(
        [
            *(Fact(f"Tensor {tensor.tensor}", listed(tensor.keys, "none")) for tensor in report.tensors),
            Fact("Thread", lines(*thread_lines(report.included, report.excluded))),
            *set_facts(report.key_set, report.highest),
        ]
    )
    yield Gap()
    yield Paragraph(
        "The keys at which an operator falls through are removed too; `dispatch-cli resolve OP` shows them."
    )
