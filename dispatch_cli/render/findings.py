"""Findings for people, one after the other, and the count at the end."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, fits, plain, to_text
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe
from dispatch_cli.render.wording import keys_label, short_kernel
from dispatch_cli.report.findings import FindingsReport, grouped

_SEVERITY_STYLES = {Severity.ERROR: console.BAD, Severity.WARNING: console.WARN}


def findings_text(report: FindingsReport, style: Style) -> Iterator[str]:
    """Place, severity, id and sentence of each finding; its facts below; then how much was checked."""
    for group in grouped(report.findings):
        yield to_text(_finding(group[0]) if len(group) == 1 else _group(group, style), style)
    count = len(report.findings)
    checked = f"{report.operators} operator{'' if report.operators == 1 else 's'}, {len(report.checks)} checks"
    if count:
        affected = len({finding.operator for finding in report.findings})
        noun = "finding" if count == 1 else "findings"
        yield to_text([Text(f"{count} {noun} in {affected} of {checked} ({report.universe})", console.BAD)], style)
    else:
        yield to_text([Text(f"All checks passed: {checked} ({report.universe})", console.KERNEL)], style)


def _group(group: list[Finding], style: Style) -> Iterator[RenderableType]:
    """What the findings have in common, then a row for each run of keys with equal details."""
    first = group[0]
    yield _title(first, first.group or first.message)
    common = [pair for pair in first.details if all(pair in finding.details for finding in group)]
    yield from _facts(tuple(common))
    yield Text()
    full = _group_table(group, common, short=False)
    yield full if fits(full, style) else _group_table(group, common, short=True)
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


def _title(finding: Finding, message: str) -> Text:
    place = [(f"{safe(str(finding.span))}: ", console.HEAD)] if finding.span is not None else []
    severity = (finding.severity.value, _SEVERITY_STYLES[finding.severity])
    return Text.assemble(*place, severity, f"[{finding.check}]: ", safe(message))


def _finding(finding: Finding) -> Iterator[Text]:
    yield _title(finding, finding.message)
    yield from _facts(finding.details)
    for related in finding.related:
        yield Text.assemble(("    note  ", console.DIM), safe(related.message), f" ({safe(str(related.span))})")
    yield Text()


def _facts(details: tuple[tuple[str, str], ...]) -> Iterator[Text]:
    width = max((len(name) for name, _ in details), default=0)
    for name, value in details:
        yield Text.assemble((f"    {name:<{width}}  ", console.DIM), safe(value))
