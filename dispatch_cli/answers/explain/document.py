"""One operator at one key, explained: the answer, each rule, the registrations, the advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dispatch_cli.answers.explain.advice_report import Advice, Manual
from dispatch_cli.answers.explain.report import AliasExplanation, BlockExplanation, ExplainReport, SlotExplanation
from dispatch_cli.answers.explain.rule_steps import Concerned, Role, RuleLine, RuleState
from dispatch_cli.answers.explain.wording import (
    ROLES,
    alias_sentences,
    base_sentences,
    block_sentences,
    next_sentences,
    rule_label,
    slot_sentences,
    stale_sentence,
    state_label,
)
from dispatch_cli.answers.shared.slot_row import Folded, TableRow
from dispatch_cli.answers.table.wording import answer_text, held_label, kernel_label, source_label
from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Narrow,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    Under,
)
from dispatch_cli.render.words import (
    inherited,
    keys_label,
    over_label,
    place_cell,
    plural,
    rule_tone,
    runs_label,
    schema_label,
    undecided_lines,
    when_label,
)

ROLE_TONES = {
    Role.FILLS: Tone.KERNEL,
    Role.OVERRIDDEN: Tone.DIM,
    Role.IN_CONFLICT: Tone.BAD,
    Role.IN_THE_WAY: Tone.WARN,
    Role.GIVES_WAY: Tone.WARN,
    Role.STANDS_BY: Tone.DIM,
}
STATE_TONES = {RuleState.FIRED: Tone.KERNEL, RuleState.GAVE_WAY: Tone.WARN, RuleState.YES: Tone.WARN}


def document(report: ExplainReport, advice: bool = True) -> Iterator[Block]:
    """The operator; the answer.

    advice: what would help is shown, too, and not only what is to be known.
    """
    yield from heading(report)
    what = report.what
    if isinstance(what, SlotExplanation):
        yield from _slot(report, what, advice)
    elif isinstance(what, AliasExplanation):
        yield from _alias(what)
    else:
        yield from _block(what)


def heading(report: ExplainReport) -> Iterator[Block]:
    """The operator, its definition, and what it is read over."""
    yield Paragraph(
        report.operator if report.schema is None else schema_label(report.operator, report.schema),
        kind=ParagraphKind.TITLE,
    )
    if report.span is not None:
        yield Paragraph(Run(f"defined at {report.span}", Tone.DIM), link=report.span)
    if report.schema is None:
        yield Paragraph("Nothing that was read defines it, and without a definition no call gets to its kernels.")
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield from undecided_lines(report.undecided_kernels)
    yield Gap()


def _slot(report: ExplainReport, what: SlotExplanation, advice: bool) -> Iterator[Block]:
    yield from headed(slot_sentences(what.answer))
    if what.live is not None and what.cause is not None:
        stale = Run(stale_sentence(what.key, what.live, what.cause), Tone.BAD)
        yield Paragraph(stale, link=what.cause.span)
    yield from map(Paragraph, base_sentences(report, what))
    yield from reasons(report, what)
    yield from around(what)
    left = what.advice if advice else tuple(item for item in what.advice if _is_note(item))
    if left:
        yield from _advice(left)


def _advice(left: Sequence[Advice]) -> Iterator[Block]:
    from dispatch_cli.answers.explain.advice_document import advice_lines, new_changes

    for piece, new, text in zip(left, new_changes(left), advice_lines(left), strict=True):
        yield Gap()
        yield Paragraph(text, link=next(iter(new or piece.changes), None))


def reasons(report: ExplainReport, what: SlotExplanation) -> Iterator[Block]:
    """The rules in turn, and the registrations that they look at."""
    yield Gap()
    yield TableBlock(RULES, what.rules)
    if what.registrations:
        yield Gap()
        yield TableBlock(REGISTRATIONS, what.registrations)
    origins = [(report.span, report.origin), *((row.span, row.origin) for row in what.registrations)]
    yield from inherited(origins)


def around(what: SlotExplanation) -> Iterator[Block]:
    """The kernels that are next in line, then the slots before and after it in a call."""
    paragraphs = [*map(Paragraph, next_sentences(what))]
    if what.above is not None:
        first = f"Tensors also carry {what.above.key}, which comes first except in inference mode:"
        paragraphs.append(Paragraph(f"{first} {answer_text(what.above)}", link=what.above))
    if what.below is not None:
        below = f"Without the autograd keys, as in inference mode: {answer_text(what.below)}"
        paragraphs.append(Paragraph(below, link=what.below))
    if paragraphs:
        yield Gap()
    yield from paragraphs


def _is_note(advice: Advice) -> bool:
    return not advice.changes and advice.manual in (None, Manual.CORRECT_NAME)


def headed(sentences: Iterable[str]) -> Iterator[Paragraph]:
    """Sentences, the first of which is the answer."""
    for position, sentence in enumerate(sentences):
        yield Paragraph(Run(sentence, Tone.PLAIN if position else Tone.HEAD), is_verdict=position == 0)


def _dim(line: RuleLine) -> Tone:
    return Tone.PLAIN if line.outcome is RuleState.FIRED or line.reached else Tone.DIM


def _number(line: RuleLine, _: bool) -> Inline:
    fired = line.outcome is RuleState.FIRED
    return Run(f"{'>' if fired else ''}{line.rule_number:2}", Tone.HEAD if fired else _dim(line))


def _rule(line: RuleLine, short: bool) -> Inline:
    fired = line.outcome is RuleState.FIRED and line.rule is not None
    return Run(rule_label(line, short), rule_tone(line.rule) if fired and line.rule else _dim(line))


def _looks_at(line: RuleLine, _: bool) -> Inline:
    keys = line.looks_at
    return Run(", ".join(keys) if len(keys) <= 2 else f"{len(keys)} keys, such as {keys[0]}", _dim(line))


def _outcome(line: RuleLine, _: bool) -> Inline:
    nothing_runs = line.outcome is RuleState.FIRED and line.rule in (Rule.AMBIGUOUS, Rule.MISSING)
    return Run(state_label(line), Tone.BAD if nothing_runs else STATE_TONES.get(line.outcome, Tone.DIM))


RULES: list[Column[RuleLine]] = [
    Column("#", _number, right=True),
    Column("Rule", _rule, wraps=False),
    Column("Looks at", _looks_at, wraps=False),
    Column("Outcome", _outcome),
]
REGISTRATIONS: list[Column[Concerned]] = [
    Column("Registered at", lambda row, _: row.key),
    Column("Kernel", kernel_label, Under("Registered at")),
    Column("What it does", lambda row, _: Run(f"{ROLES[row.role]} ({row.rule_number})", ROLE_TONES[row.role])),
    Column("When", lambda row, _: when_label(row.when), Under("Registered at"), optional=True),
    Column("Declared at", lambda row, _: place_cell(row.span, row.origin), Narrow.BELOW, optional=True),
]


def _alias(what: AliasExplanation) -> Iterator[Block]:
    yield from headed(alias_sentences(what))
    if what.fills:
        yield Paragraph(runs_label(what.fills), indent=2)
    if what.lost:
        yield Gap()
        count = sum(len(run.keys) for run in what.lost)
        yield Paragraph(
            f"{plural(count, 'slot')} that it covers and {'does' if what.registered else 'would'} not fill:"
        )
        yield Gap()
        yield TableBlock(ANSWERS, what.lost)
    if what.stale:
        yield Gap()
        yield Paragraph(Run("Stale slots, at which a call runs something else:", Tone.BAD))
        for run in what.stale:
            yield Paragraph(f"{keys_label(run.keys)}: {run.answer.live_kernel or 'nothing'}", indent=2)
    yield Gap()
    yield Paragraph(f"{plural(len(what.uncovered.keys), 'slot')} that it does not cover:")
    yield Paragraph(Run(runs_label(what.uncovered), Tone.DIM), indent=2)


def _block(what: BlockExplanation) -> Iterator[Block]:
    yield from headed(block_sentences(what))
    yield Gap()
    yield TableBlock(ANSWERS, what.slots)


def _decided(run: Folded[TableRow], short: bool) -> Inline:
    row = run.answer
    if row.rule is Rule.NOT_KNOWN:
        return Run(f"not known (depends on {', '.join(row.blockers)})", rule_tone(row.rule))
    because = f" (rule 6 gives way to {', '.join(row.blockers)})" if row.blockers else ""
    rule = row.rule.value if short else row.rule.dump_text
    return Run(f"{row.rule_number} {rule}{because}", rule_tone(row.rule))


ANSWERS: list[Column[Folded[TableRow]]] = [
    Column("Key", lambda run, short: keys_label(run.keys, short)),
    Column("Kernel", lambda run, short: held_label(run.answer, short)),
    Column("Rule", _decided),
    Column("From", lambda run, _: source_label(run.answer)),
    Column("Declared at", lambda run, _: place_cell(run.answer.span, run.answer.origin), Narrow.BELOW, optional=True),
]
