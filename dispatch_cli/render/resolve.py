"""A simulated call for people: the answer, what became of every key, the thread and the mask, the steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from dispatch_cli.engine.call.trace import Does, MaskKind
from dispatch_cli.render import console
from dispatch_cli.render.advice import advice_line
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.facts import Fact, facts, lines
from dispatch_cli.render.resolve_wording import (
    alternative_sentences,
    assumption,
    end_sentence,
    error_lines,
    excluded_sentences,
    from_label,
    kernel_label,
    mask_label,
    option_labels,
    outcome_kernel_label,
    outcome_rule,
    path_label,
    stage_title,
    status_label,
    step_sentence,
    tensor_count,
    thread_label,
)
from dispatch_cli.render.style import Style
from dispatch_cli.render.words import note_text, over_label, place_label
from dispatch_cli.report.key_outcomes import KeyOutcome, KeyStatus
from dispatch_cli.report.resolve import ResolveReport, Stage, StepReport

DOES_STYLES = {Does.RAISES: console.BAD, Does.ENDS: console.KERNEL, Does.DECOMPOSES: console.KERNEL}


def resolve_text(report: ResolveReport, style: Style) -> Iterator[str]:
    """The whole answer."""
    yield to_text(_parts(report, style), style)


def _parts(report: ResolveReport, style: Style) -> Iterator[RenderableType]:
    short = style.width is not None
    yield plain(report.schema or f"{report.operator} (no schema: dangling)", console.HEAD)
    if report.span is not None:
        yield plain(f"defined at {report.span}", console.DIM)
    yield plain(over_label(report.over, report.assumed, report.universe), console.DIM)
    yield from facts([*_asked(report)], style)
    yield Text()
    yield plain(end_sentence(report, short), console.BAD if report.fails else console.HEAD)
    for line in error_lines(report.end, short):
        text = plain(line)
        yield Text.assemble("  ", text) if style.width is None else Padding(text, (0, 0, 0, 2))
    if len(report.steps) > 1:
        yield plain(f"Slots: {path_label(report)}")
    yield from map(plain, excluded_sentences(report, short))
    yield from map(plain, alternative_sentences(report))
    assumed = assumption(report, short)
    if assumed is not None:
        yield plain(assumed)
    for note in report.notes:
        yield plain(note_text(note))
    for advice in report.advice:
        yield plain("".join(run.text for run in advice_line(advice)))
    for stage in report.stages:
        yield Text()
        if stage is not report.stages[0]:
            yield plain(stage_title(report, stage), console.HEAD)
        yield from _stage(report, stage, style)


def _asked(report: ResolveReport) -> Iterator[Fact]:
    if report.keyset is not None:
        yield Fact("Key set", plain(report.keyset))
    if report.tensors:
        tensors = report.tensors
        numbered = [f"{number} {text}" for number, text in enumerate(tensors, start=1)]
        yield Fact("Tensors", lines(*(numbered if len(tensors) > 1 else tensors)))
    elif report.keyset is None:
        yield Fact("Tensors", plain("none"))
    for name, label in option_labels(report):
        yield Fact(name.capitalize(), plain(label))
    if report.contexts:
        yield Fact("Contexts", plain(", ".join(report.contexts)))


def _stage(report: ResolveReport, stage: Stage, style: Style) -> Iterator[RenderableType]:
    outcomes = _shown(report, stage)
    full = _key_outcomes(stage, outcomes, short=False)
    yield full if fits(full, style) else _key_outcomes(stage, outcomes, short=True)
    yield Text()
    rows = [*_thread(stage)] if stage is report.stages[0] else []
    short = style.width is not None
    for step in stage.steps:
        rows.append(Fact(f"Step {step.number}", plain(step_sentence(step, short))))
        if step.canonical is not None:
            canonical = kernel_label(step.canonical, short)
            sentence = f"stale: the registrations determine {canonical}, but the live table still holds this kernel"
            rows.append(Fact("", plain(sentence, console.BAD)))
    yield from facts(rows, style)


def _shown(report: ResolveReport, stage: Stage) -> tuple[KeyOutcome, ...]:
    """The keys worth a row: after the first selection without those that the thread excludes, which the steps name;
    before the last one without those below its last step, which the call anew decides."""
    first, last = stage is report.stages[0], stage is report.stages[-1]
    return tuple(
        outcome
        for outcome in stage.outcomes
        if (first or outcome.status is not KeyStatus.EXCLUDED) and (last or outcome.status is not KeyStatus.NOT_REACHED)
    )


def _key_outcomes(stage: Stage, outcomes: tuple[KeyOutcome, ...], short: bool) -> Rows:
    """The keys. short: the place of a kernel stands below it, and the alias that it comes from is left out."""
    steps = {step.number: step for step in stage.steps}
    count = tensor_count(stage)
    placed = not short and any(outcome.row.span is not None for outcome in outcomes)
    aliased = not short and any(outcome_rule(outcome, steps)[1] for outcome in outcomes)
    table = Rows([])
    for header in ("Key", "From", "Step", "Kernel", "Rule"):
        table.add_column(header, wraps=header == "Kernel")
    if aliased:
        table.add_column("Alias", wraps=False)
    if placed:
        table.add_column("Declared at")
    for outcome in outcomes:
        runs = outcome.status is KeyStatus.RUNS
        dim = "" if runs else console.DIM
        rule, alias = outcome_rule(outcome, steps)
        cells = [
            plain(outcome.key, console.HEAD if runs else dim),
            plain(from_label(outcome.tensors, outcome.included, count, outcome.generator), dim),
            plain(status_label(outcome, steps), _status_style(outcome, steps)),
            _kernel(outcome, steps, short, dim),
            plain(rule.value if short else rule.dump_text, dim or ""),
        ]
        if aliased:
            cells.append(plain(alias, dim or console.ALIAS))
        if placed:
            cells.append(plain(place_label(outcome.row.span), console.PLACE))
        table.add_row(*cells)
    return table


def _status_style(outcome: KeyOutcome, steps: Mapping[int, StepReport]) -> str:
    if outcome.status is KeyStatus.RUNS:
        return DOES_STYLES.get(steps[outcome.steps[-1]].does, "")
    return console.WARN if outcome.status in (KeyStatus.FALLS_THROUGH, KeyStatus.EXCLUDED) else console.DIM


def _kernel(outcome: KeyOutcome, steps: Mapping[int, StepReport], short: bool, dim: str) -> Text:
    parts = [plain(outcome_kernel_label(outcome, steps, short), dim)]
    if short and outcome.row.span is not None:
        parts.append(plain(f"  {place_label(outcome.row.span, short)}", console.PLACE))
    if outcome.canonical is not None:
        parts.append(plain(f"stale: canonical is {kernel_label(outcome.canonical, short)}", console.BAD))
    return Text("\n").join(parts)


def _thread(stage: Stage) -> Iterator[Fact]:
    if stage.mask_kind is not MaskKind.NONE:
        changes = [thread_label("includes", stage.included), thread_label("excludes", stage.excluded)]
        said = [change for change in changes if change is not None]
        yield Fact("Thread", lines(*said) if said else plain("as by default"))
    yield Fact("Mask", plain(mask_label(stage)))
