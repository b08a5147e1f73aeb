"""A simulated call of a higher-order operator, for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.facts import Fact, facts, lines
from dispatch_cli.render.resolve_higher_order_wording import (
    deferred_sentence,
    end_sentence,
    fake_mode_sentences,
    holds_label,
    path_label,
    rule_label,
    status_label,
    step_lines,
)
from dispatch_cli.render.resolve_wording import error_lines, from_label, thread_label
from dispatch_cli.render.style import Style
from dispatch_cli.render.words import over_label, place_label
from dispatch_cli.report.key_outcomes import KeyStatus
from dispatch_cli.report.resolve_higher_order import HigherOrderKeyOutcome, HigherOrderStep, ResolveHigherOrderReport


def resolve_higher_order_text(report: ResolveHigherOrderReport, style: Style) -> Iterator[str]:
    """The answer, the keys of the first selection and of the last, the steps."""
    yield to_text(_parts(report, style), style)


def _parts(report: ResolveHigherOrderReport, style: Style) -> Iterator[RenderableType]:
    short = style.width is not None
    effect = ", with a side effect" if report.side_effect else ""
    yield plain(f"{report.operator} (higher-order operator{effect})", console.HEAD)
    if report.span is not None:
        yield plain(f"declared at {report.span}", console.DIM)
    yield plain(over_label(report.over, report.assumed, report.universe), console.DIM)
    yield from facts([*_asked(report)], style)
    yield Text()
    yield plain(end_sentence(report, short), console.BAD if report.fails else console.HEAD)
    for line in error_lines(report.end, short):
        text = plain(line)
        yield Text.assemble("  ", text) if style.width is None else Padding(text, (0, 0, 0, 2))
    if report.deferred is not None:
        yield plain(deferred_sentence(report), console.WARN)
    if report.fake_modes is not None:
        yield from map(plain, fake_mode_sentences(report.fake_modes))
    if len(report.steps) > 1:
        yield plain(f"Slots: {path_label(report)}")
    yield from _key_tables(report, style)
    steps = (Fact(f"Step {step.number}", lines(*step_lines(step, short))) for step in report.steps)
    yield Text()
    yield from facts([*_thread(report.steps[0]), *steps], style)


def _asked(report: ResolveHigherOrderReport) -> Iterator[Fact]:
    tensors = report.tensors
    numbered = [f"{number} {text}" for number, text in enumerate(tensors, start=1)]
    yield Fact("Tensors", lines(*(numbered if len(tensors) > 1 else tensors)) if tensors else plain("none"))
    if report.contexts:
        yield Fact("Contexts", plain(", ".join(report.contexts)))


def _key_tables(report: ResolveHigherOrderReport, style: Style) -> Iterator[RenderableType]:
    """The keys of the first selection whole; of the last one without what the thread excludes by then."""
    first, last = report.steps[0], report.steps[-1]
    yield Text()
    yield _key_outcomes(
        first,
        tuple(outcome for outcome in first.outcomes if last is first or outcome.status is not KeyStatus.NOT_REACHED),
        style,
    )
    if last is not first:
        yield Text()
        yield plain(f"Step {last.number}", console.HEAD)
        yield _key_outcomes(
            last, tuple(outcome for outcome in last.outcomes if outcome.status is not KeyStatus.EXCLUDED), style
        )


def _key_outcomes(step: HigherOrderStep, outcomes: tuple[HigherOrderKeyOutcome, ...], style: Style) -> Rows:
    full = _rows(step, outcomes, short=False)
    return full if fits(full, style) else _rows(step, outcomes, short=True)


def _rows(step: HigherOrderStep, outcomes: tuple[HigherOrderKeyOutcome, ...], short: bool) -> Rows:
    """The keys. short: what a rule is for, and its place, stand below it."""
    placed = not short and any(_place(outcome, short) for outcome in outcomes)
    table = Rows([])
    for header in ("Key", "From", "Step", "Holds"):
        table.add_column(header, wraps=header == "Holds")
    if not short:
        table.add_column("Rule for", wraps=False)
    if placed:
        table.add_column("Declared at")
    for outcome in outcomes:
        runs = outcome.status is KeyStatus.RUNS
        dim = "" if runs else console.DIM
        cells = [
            plain(outcome.key, console.HEAD if runs else dim),
            plain(from_label(outcome.tensors, outcome.included, len(step.arguments)), dim),
            plain(status_label(outcome, step), _status_style(outcome)),
            _holds(outcome, short, dim),
        ]
        if not short:
            cells.append(plain(rule_label(outcome), dim or console.ALIAS))
        if placed:
            cells.append(plain(_place(outcome, short), console.PLACE))
        table.add_row(*cells)
    return table


def _holds(outcome: HigherOrderKeyOutcome, short: bool, dim: str) -> Text:
    parts = [plain(holds_label(outcome, short), dim)]
    if short and rule_label(outcome):
        parts.append(plain(f"  for {rule_label(outcome)}", dim))
    if short and _place(outcome, short):
        parts.append(plain(f"  {_place(outcome, short)}", console.PLACE))
    return Text("\n").join(parts)


def _place(outcome: HigherOrderKeyOutcome, short: bool) -> str:
    return "" if outcome.entry.rule is None else place_label(outcome.entry.rule.span, short)


def _status_style(outcome: HigherOrderKeyOutcome) -> str:
    if outcome.status is KeyStatus.RUNS:
        return ""
    return console.WARN if outcome.status in (KeyStatus.FALLS_THROUGH, KeyStatus.EXCLUDED) else console.DIM


def _thread(step: HigherOrderStep) -> Iterator[Fact]:
    changes = [thread_label("includes", step.included), thread_label("excludes", step.excluded)]
    said = [change for change in changes if change is not None]
    yield Fact("Thread", lines(*said) if said else plain("as by default"))
