"""Findings for people, one after the other, and the count at the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from textwrap import wrap

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.checks.check import Check, Finding
from dispatch_cli.model.problem import Related
from dispatch_cli.model.settings import Severity
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.snippets import snippet
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.words import keys_label, short_kernel
from dispatch_cli.report.findings import FindingsReport, grouped

SEVERITY_STYLES = {Severity.ERROR: console.BAD, Severity.WARNING: console.WARN, Severity.INFO: console.ALIAS}
NARROW = 20
"""Columns below which a text is left to the terminal to break."""
FEW = 3
"""So many findings of one check without a place are shown one by one; more are a list."""


def findings_text(report: FindingsReport, style: Style) -> Iterator[str]:
    """Place, severity, id and sentence of each finding, the line in question, its facts; then how much was checked."""
    checks = {check.id: check for check in report.known}
    groups = grouped(report.findings)
    for placed, found in _alike(groups):
        if not placed and len(found) > FEW:
            yield to_text(_list(checks[found[0][0].check], found, style), style)
            continue
        for group in found:
            yield to_text(_finding(group[0], style) if len(group) == 1 else _group(group, style), style)
    yield to_text(_closing(report, checks, style), style)


def _alike(groups: Iterable[list[Finding]]) -> Iterator[tuple[bool, list[list[Finding]]]]:
    """Neighbours of one check: those with a place, and those without one by severity, the worst first."""
    for (_, placed), some in groupby(groups, key=lambda group: (group[0].check, group[0].span is not None)):
        found = list(some)
        if placed:
            yield True, found
            continue
        found.sort(key=lambda group: group[0].severity.rank)
        for _, same in groupby(found, key=lambda group: group[0].severity):
            yield False, list(same)


def summary_text(report: FindingsReport, style: Style) -> Iterator[str]:
    """One row for each check that found something; then how much was checked."""
    checks = {check.id: check for check in report.known}
    yield to_text(_closing(report, checks, style, always=True), style)


def _list(check: Check, groups: list[list[Finding]], style: Style) -> Iterator[RenderableType]:
    """Findings of one check that have no place: a line each."""
    first = groups[0][0]
    yield _title(first, f"{len(groups)} findings against: {check.title}", style)
    messages = (group[0].message if len(group) == 1 else group[0].group or group[0].message for group in groups)
    yield Text("\n".join("    " + _wrapped(safe(message), 4, 6, style) for message in messages))
    if first.tip is not None and all(group[0].tip == first.tip for group in groups):
        yield _tip(first.tip, style)
    yield Text.assemble(("    more  ", console.DIM), f"dispatch-cli rule {check.id}")
    yield Text()


def _closing(
    report: FindingsReport, checks: dict[str, Check], style: Style, always: bool = False
) -> Iterator[RenderableType]:
    counts = Counter(finding.check for finding in report.findings)
    if always or len(counts) > 1:
        table = Rows(["Check", ""])
        table.add_column("Findings", "right")
        table.add_column("What does not hold")
        for check in report.known:
            if count := counts[check.id]:
                worst = min(
                    (one.severity for one in report.findings if one.check == check.id), key=lambda one: one.rank
                )
                severity = Text(worst.value, SEVERITY_STYLES[worst])
                table.add_row(plain(check.id), severity, plain(str(count)), plain(checks[check.id].title))
        if counts:
            yield table
            yield Text()
    yield from (Text(_wrapped(sentence, 0, 0, style), console.DIM) for sentence in not_checked(report))
    operators = f"{report.operators} operator{'' if report.operators == 1 else 's'}"
    checks_run = f"{len(report.checks)} check{'' if len(report.checks) == 1 else 's'}"
    checked = f"{operators}, {checks_run} ({report.universe})"
    if report.findings:
        count = len(report.findings)
        affected = len({finding.operator for finding in report.findings if finding.operator is not None})
        found = f"{count} finding{'' if count == 1 else 's'} in {affected} of {checked}"
        look = console.BAD if report.failing else console.WARN
        yield Text(found + ("" if report.failing else f"; none is {_bad_enough(report.fail_on)}"), look)
    else:
        yield Text(f"All checks passed: {checked}", console.KERNEL)
    if notes := list(_notes(report)):
        yield plain("; ".join(notes), console.DIM)


def not_checked(report: FindingsReport) -> Iterator[str]:
    """What was not checked, and how to check it."""
    found = report.not_checked
    if found.pytorch:
        verb = _were(found.pytorch)
        yield f"{_operators(found.pytorch)} that PyTorch registered {verb} not checked; --pytorch checks them"
    if found.extended:
        yield f"{_operators(found.extended)} of files that these extend {_were(found.extended)} not checked"
    if found.unknown:
        yield (
            f"{_operators(found.unknown)} of a capture that does not say who registered them: they were checked as "
            "if they were PyTorch's; capture again to have those of other libraries checked in full"
        )


def _were(count: int) -> str:
    return "was" if count == 1 else "were"


def _operators(count: int) -> str:
    return f"{count:,} operator{'' if count == 1 else 's'}"


def _bad_enough(severity: Severity) -> str:
    return {Severity.ERROR: "an error", Severity.WARNING: "a warning or an error", Severity.INFO: "any"}[severity]


def _notes(report: FindingsReport) -> Iterator[str]:
    if report.suppressed:
        yield f"{len(report.suppressed)} suppressed"
    if report.baseline is not None:
        yield f"{report.baseline.known} in the baseline"
        if fixed := sum(count for _, count in report.baseline.fixed):
            yield f"{fixed} of the baseline fixed, which --update-baseline takes out"


def _group(group: list[Finding], style: Style) -> Iterator[RenderableType]:
    """What the findings have in common, then a row for each run of keys with equal details."""
    first = group[0]
    yield _title(first, first.group or first.message, style)
    yield from _snippet(first, style)
    common = [pair for pair in first.details if all(pair in finding.details for finding in group)]
    yield from _facts(tuple(common), style)
    yield from _related(tuple(one for one in first.related if all(one in finding.related for finding in group)), style)
    yield Text()
    full = _group_table(group, common, short=False)
    yield full if fits(full, style) else _group_table(group, common, short=True)
    if first.tip is not None:
        yield Text()
        yield _tip(first.tip, style)
    yield Text()


def _group_table(group: list[Finding], common: list[tuple[str, str]], short: bool) -> Rows:
    runs: list[tuple[list[str], tuple[tuple[str, str], ...]]] = []
    for finding in group:
        own = tuple(pair for pair in finding.details if pair not in common)
        if runs and runs[-1][1] == own:
            runs[-1][0].append(finding.key or "")
        else:
            runs.append(([finding.key or ""], own))
    table = Rows(["Key", *(name.capitalize() for name, _ in runs[0][1])], indent=4)
    for keys, own in runs:
        cells = (plain(short_kernel(value) if short else value) for _, value in own)
        table.add_row(plain(keys_label(tuple(keys), short)), *cells)
    return table


def _title(finding: Finding, message: str, style: Style) -> Text:
    place = [(f"{safe(str(finding.span))}: ", console.HEAD)] if finding.span is not None else []
    title = Text.assemble(*place, (finding.severity.value, SEVERITY_STYLES[finding.severity]), f"[{finding.check}]: ")
    return title.append(_wrapped(safe(message), console.width_of(title.plain), 4, style))


def _finding(finding: Finding, style: Style) -> Iterator[Text]:
    yield _title(finding, finding.message, style)
    yield from _snippet(finding, style)
    yield from _facts(finding.details, style)
    yield from _related(finding.related, style)
    if finding.tip is not None:
        yield _tip(finding.tip, style)
    yield Text()


def _snippet(finding: Finding, style: Style) -> Iterator[Text]:
    if finding.span is None:
        return
    room = None if style.width is None else style.width - len(str(finding.span.line)) - 7
    found = snippet(finding.span, finding.mark, room)
    if found is None:
        return
    number = str(found.number)
    before, marked = (safe(text) for text in (found.line[: found.start], found.line[found.start :][: found.length]))
    yield Text.assemble((f"    {number} | ", console.DIM), safe(found.line))
    marks = "^" * max(1, console.width_of(marked))
    yield Text.assemble(
        (f"    {' ' * len(number)} | ", console.DIM),
        " " * console.width_of(before),
        (marks, SEVERITY_STYLES[finding.severity]),
    )


def _facts(details: tuple[tuple[str, str], ...], style: Style) -> Iterator[Text]:
    width = max((len(name) for name, _ in details), default=0)
    for name, value in details:
        yield _hanging(f"{name:<{width}}  ", console.DIM, value, style)


def _related(related: tuple[Related, ...], style: Style) -> Iterator[Text]:
    for one in related:
        yield _hanging("note  ", console.DIM, f"{one.message} ({one.span})", style)


def _tip(tip: str, style: Style) -> Text:
    return _hanging("tip   ", console.ALIAS, tip, style)


def _hanging(label: str, look: str, text: str, style: Style) -> Text:
    """A label and a text, whose further lines stand below its first."""
    indent = 4 + len(label)
    return Text.assemble((f"    {label}", look), _wrapped(safe(text), indent, indent, style))


def _wrapped(text: str, first: int, others: int, style: Style) -> str:
    """A text broken into lines that fit. first: columns taken before it; others: columns before its further lines."""
    if style.width is None or first + console.width_of(text) <= style.width or style.width - others < NARROW:
        return text
    lines = wrap(
        text,
        style.width,
        initial_indent=" " * first,
        subsequent_indent=" " * others,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join(lines)[first:]
