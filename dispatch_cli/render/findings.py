"""Findings for people, one after the other, and the count at the end."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from dispatch_cli.checks.check import Finding, Severity
from dispatch_cli.render import console
from dispatch_cli.render.console import Style, to_text
from dispatch_cli.render.text_safety import safe
from dispatch_cli.report.findings import FindingsReport

_SEVERITY_STYLES = {Severity.ERROR: console.BAD, Severity.WARNING: console.WARN}


def findings_text(report: FindingsReport, style: Style) -> Iterator[str]:
    """Place, severity, id and sentence of each finding; its facts below; then how much was checked."""
    for finding in report.findings:
        yield to_text(_finding(finding), style)
    count = len(report.findings)
    checked = f"{report.operators} operator{'' if report.operators == 1 else 's'}, {len(report.checks)} checks"
    if count:
        affected = len({finding.operator for finding in report.findings})
        noun = "finding" if count == 1 else "findings"
        yield to_text([Text(f"{count} {noun} in {affected} of {checked} ({report.universe})", console.BAD)], style)
    else:
        yield to_text([Text(f"All checks passed: {checked} ({report.universe})", console.KERNEL)], style)


def _finding(finding: Finding) -> Iterator[Text]:
    place = [(f"{safe(str(finding.span))}: ", console.HEAD)] if finding.span is not None else []
    severity = (finding.severity.value, _SEVERITY_STYLES[finding.severity])
    yield Text.assemble(*place, severity, f"[{finding.check}]: ", safe(finding.message))
    width = max((len(name) for name, _ in finding.details), default=0)
    for name, value in finding.details:
        yield Text.assemble((f"    {name:<{width}}  ", console.DIM), safe(value))
    for related in finding.related:
        yield Text.assemble(("    note  ", console.DIM), safe(related.message), f" ({safe(str(related.span))})")
    yield Text()
