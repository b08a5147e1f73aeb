"""An explanation for people."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.engine.rules import Rule
from dispatch_cli.render import console
from dispatch_cli.render.advice import advice_label, advice_text
from dispatch_cli.render.console import Rows, fits, plain, to_text
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
from dispatch_cli.render.style import Style
from dispatch_cli.render.table import RULE_STYLES
from dispatch_cli.render.wording import inherited_lines, keys_label, origin_place, runs_label
from dispatch_cli.report.explain import ExplainReport, SlotExplanation
from dispatch_cli.report.explain_alias import AliasExplanation, BlockExplanation, Run
from dispatch_cli.report.explain_error import TextDifference
from dispatch_cli.report.explain_rules import Concerned, Role, RuleLine, RuleState

ROLE_STYLES = {
    Role.FILLS: console.KERNEL,
    Role.OVERRIDDEN: console.DIM,
    Role.IN_CONFLICT: console.BAD,
    Role.IN_THE_WAY: console.WARN,
    Role.GIVES_WAY: console.WARN,
    Role.STANDS_BY: console.DIM,
}
STATE_STYLES = {
    RuleState.FIRED: console.KERNEL,
    RuleState.GAVE_WAY: console.WARN,
    RuleState.YES: console.WARN,
}


def explain_text(report: ExplainReport, style: Style) -> Iterator[str]:
    """The answer, the rules, the registrations, the advice."""
    yield to_text(_all(report, style), style)


def _all(report: ExplainReport, style: Style) -> Iterator[RenderableType]:
    yield from _error(report, style)
    yield plain(report.schema or report.operator, console.HEAD)
    if report.span is not None:
        yield plain(f"defined at {report.span}", console.DIM)
    yield plain(_over(report), console.DIM)
    yield Text()
    what = report.what
    if isinstance(what, SlotExplanation):
        yield from _slot(report, what, style)
    elif isinstance(what, AliasExplanation):
        yield from _alias(what, style)
    else:
        yield from _block(what, style)


def _over(report: ExplainReport) -> str:
    if report.assumed:
        return f"over {', '.join(report.over)}, the newest embedded state; --base names another, files others"
    return f"over {', '.join(report.over)}" if report.over else f"universe {report.universe}"


def _slot(report: ExplainReport, what: SlotExplanation, style: Style) -> Iterator[RenderableType]:
    short = style.width is not None
    answer, *others = slot_sentences(report, what, short)
    yield plain(answer, console.HEAD)
    for sentence in others:
        yield plain(sentence, console.BAD if sentence.startswith("Stale") else "")
    yield Text()
    yield _fitting(_rules(what.rules, short=False), _rules(what.rules, short=True, width=style.width), style)
    if what.concerned:
        yield Text()
        yield _fitting(_concerned(what.concerned, short=False), _concerned(what.concerned, short=True), style)
    for line in inherited_lines([(report.span, report.origin), *((one.span, one.origin) for one in what.concerned)]):
        yield plain(line, console.DIM)
    around = list(around_sentences(what, short))
    if around:
        yield Text()
        yield from map(plain, around)
    for advice in what.advice:
        yield Text()
        head = (f"{advice_label(advice)}: ", console.HEAD)
        yield Text.assemble(head, plain(advice_text(advice, report.operator)))


def _fitting(full: Rows, short: Rows, style: Style) -> Rows:
    return full if fits(full, style) else short


ROOM_FOR_RULES = 80
"""Columns at which the rules have room in short, when only their outcome is wrapped."""


def _rules(rules: tuple[RuleLine, ...], short: bool, width: int | None = None) -> Rows:
    table = Rows([])
    table.add_column("#", justify="right")
    for header in ("Rule", "Looks at", "Outcome"):
        table.add_column(header, wraps=header == "Outcome" or (width is not None and width < ROOM_FOR_RULES))
    for line in rules:
        fired = line.state is RuleState.FIRED
        dim = "" if fired or line.reached else console.DIM
        rule_style = RULE_STYLES[line.rule] if fired and line.rule is not None else dim
        state_style = STATE_STYLES.get(line.state, console.DIM)
        if fired and line.rule in (Rule.AMBIGUOUS, Rule.MISSING):
            state_style = console.BAD
        table.add_row(
            Text(f"{'>' if fired else ' '}{line.number:2}", console.HEAD if fired else dim),
            plain(rule_label(line, short), rule_style),
            plain(looks_at_label(line.looks_at), dim),
            plain(state_label(line), state_style),
        )
    return table


def _concerned(concerned: tuple[Concerned, ...], short: bool) -> Rows:
    if short:
        return _concerned_in_short(concerned)
    placed = any(origin_place(one.span, one.origin) for one in concerned)
    table = Rows(["Registered at", "Kernel", "What it does", *(["Declared at"] if placed else [])])
    for one in concerned:
        cells = [
            plain(one.key),
            plain(kernel_label(one)),
            plain(role_label(one), ROLE_STYLES[one.role]),
        ]
        if placed:
            cells.append(plain(origin_place(one.span, one.origin), console.PLACE))
        table.add_row(*cells)
    return table


def _concerned_in_short(concerned: tuple[Concerned, ...]) -> Rows:
    """The same where there is less room: the kernel and its place below the key."""
    table = Rows(["What it does", "Registered at"])
    for one in concerned:
        place = origin_place(one.span, one.origin, short=True)
        place = f", {place}" if place else ""
        below = Text.assemble(plain(kernel_label(one, short=True)), plain(place, console.PLACE))
        table.add_row(plain(role_label(one), ROLE_STYLES[one.role]), Text.assemble(plain(one.key), "\n", "  ", below))
    return table


def _alias(what: AliasExplanation, style: Style) -> Iterator[RenderableType]:
    yield from _headed(alias_sentences(what))
    if what.fills:
        yield plain(f"  {runs_label(what.fills)}")
    if what.lost:
        yield Text()
        count = sum(len(run.keys) for run in what.lost)
        yield plain(f"{count} that it covers and {'does' if what.registered else 'would'} not fill:")
        yield Text()
        yield _fitting(_runs(what.lost, short=False), _runs(what.lost, short=True), style)
    if what.stale:
        yield Text()
        yield plain("Stale, a call runs something else:", console.BAD)
        for run in what.stale:
            yield plain(f"  {keys_label(run.keys)}: {run.row.live_kernel or 'nothing'}")
    yield Text()
    yield plain(f"{sum(map(len, what.uncovered))} that it does not cover:")
    yield plain(f"  {runs_label(what.uncovered)}", console.DIM)


def _block(what: BlockExplanation, style: Style) -> Iterator[RenderableType]:
    yield from _headed(block_sentences(what))
    yield Text()
    yield _fitting(_runs(what.slots, short=False), _runs(what.slots, short=True), style)


def _headed(sentences: Iterator[str]) -> Iterator[Text]:
    for position, sentence in enumerate(sentences):
        yield plain(sentence, "" if position else console.HEAD)


def _runs(runs: tuple[Run, ...], short: bool) -> Rows:
    placed = any(origin_place(run.row.span, run.row.origin) for run in runs)
    table = Rows(["Key", "Kernel", "Rule", "From", *(["Declared at"] if placed else [])])
    for run in runs:
        row = run.row
        kernel = "PyTorch's own" if row.core and len(run.keys) > 1 else kernel_label(row, short)
        rule = row.rule.value if short else row.rule.dump_text
        because = f" ({', '.join(row.blockers)} in the way)" if row.blockers else ""
        cells = [
            plain(keys_label(run.keys, short)),
            plain("-" if row.kernel is None else kernel),
            plain(f"{row.number} {rule}{because}", RULE_STYLES[row.rule]),
            plain(row.source if row.source is not None and row.rule is not Rule.KERNEL else ""),
        ]
        if placed:
            cells.append(plain(origin_place(row.span, row.origin, short), console.PLACE))
        table.add_row(*cells)
    return table


def _error(report: ExplainReport, style: Style) -> Iterator[RenderableType]:
    if report.error is None:
        return
    yield from _headed(error_sentences(report, report.error))
    if report.error.differences:
        yield Text()
        differences = report.error.differences
        yield _fitting(_differences(differences, short=False), _differences(differences, short=True), style)
    yield Text()


def _differences(differences: tuple[TextDifference, ...], short: bool) -> Rows:
    table = Rows(["Key", "In the text", "Here"])
    for difference in differences:
        table.add_row(*map(plain, difference_cells(difference, short)))
    return table
