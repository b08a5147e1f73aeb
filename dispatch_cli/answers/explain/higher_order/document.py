"""A higher-order operator at one place, explained: the answer, the steps of dispatch, the rules, what would help."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dispatch_cli.answers.explain.document import RULES, headed
from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport
from dispatch_cli.answers.explain.higher_order.wording import advice_sentences, answer_sentences
from dispatch_cli.answers.explain.rule_steps import RuleLine, RuleState
from dispatch_cli.answers.table.higher_order.document import ENTRIES, IMPLS, alike
from dispatch_cli.answers.table.higher_order.report import ASIDE, fold_slots
from dispatch_cli.answers.table.higher_order.wording import slot_label
from dispatch_cli.engine.call.higher_order.place import DispatchLine, DispatchStep, StepOutcome
from dispatch_cli.engine.rules import Rule
from dispatch_cli.render.document import (
    Block,
    Column,
    Gap,
    Inline,
    Paragraph,
    ParagraphKind,
    Run,
    TableBlock,
    Tone,
    joined,
)
from dispatch_cli.render.words import aside_lines, over_label

_STEPS = {
    DispatchStep.MASK: "key set without the keys that fall through",
    DispatchStep.TRANSFORM: "innermost functorch transform",
    DispatchStep.MODE: "innermost mode",
    DispatchStep.SUBCLASS: "tensors with __torch_dispatch__, in order",
    DispatchStep.PRE_DISPATCH: "innermost mode of the PreDispatch stack",
    DispatchStep.RESOLVE_KEY: "resolve_key chooses a key",
    DispatchStep.IMPLEMENTATION: "implementation at that key",
}
_OUTCOMES = {
    StepOutcome.PASSES: ("goes on", Tone.PLAIN),
    StepOutcome.DECIDES: ("decides", Tone.KERNEL),
    StepOutcome.RAISES: ("raises", Tone.BAD),
    StepOutcome.NOT_REACHED: ("not reached", Tone.DIM),
}
STEPS: list[Column[DispatchLine]] = [
    Column("Step of dispatch", lambda line, _: _STEPS[line.step]),
    Column("Looks at", lambda line, _: Run(line.looks_at, _OUTCOMES[line.outcome][1]), wraps=False),
    Column("Outcome", lambda line, _: Run(*_OUTCOMES[line.outcome])),
]


def document(report: ExplainHigherOrderReport, _: int | None = None) -> Iterator[Block]:
    """The operator; the answer, and what it follows from."""
    effects = [", with a side effect"] if report.side_effect else []
    effects += [", writes to its arguments"] if report.mutates else []
    yield Paragraph(f"{report.operator} (higher-order operator{''.join(effects)})", kind=ParagraphKind.TITLE)
    if report.span is not None:
        yield Paragraph(Run(f"declared at {report.span}", Tone.DIM))
    yield Paragraph(Run(over_label(report), Tone.DIM))
    yield Gap()
    yield from headed(answer_sentences(report))
    if report.steps:
        yield Gap()
        yield TableBlock(STEPS, report.steps)
    if report.rules:
        yield Gap()
        yield TableBlock(RULES_OF_PYTHON, report.rules)
    if report.slots:
        yield Gap()
        yield from _slots(report)
    if report.impls:
        yield Gap()
        yield TableBlock(IMPLS, [*alike(report.impls)])
    if report.advice is not None:
        yield Gap()
        yield Paragraph(joined(Run("Advice: ", Tone.HEAD), " ".join(advice_sentences(report.advice, report.name))))


def _outcome(line: RuleLine, short: bool) -> Inline:
    """A backend fallback gives no kernel: `resolve_key` then answers with the key itself."""
    if line.outcome is RuleState.FIRED and line.rule is Rule.FALLBACK:
        return Run("chooses the key itself", Tone.WARN)
    return RULES[-1].cell(line, short)


RULES_OF_PYTHON: list[Column[RuleLine]] = [*RULES[:-1], replace(RULES[-1], cell=_outcome)]


def _slots(report: ExplainHigherOrderReport) -> Iterator[Block]:
    folding = fold_slots(report.slots)
    if folding.rows:
        yield TableBlock(ENTRIES, folding.rows)
    yield from aside_lines((slot_label(slot), folding.aside.get(slot)) for slot in ASIDE)
