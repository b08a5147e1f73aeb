"""The checks and their documentation for people."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from dispatch_cli.checks.check import Check
from dispatch_cli.render import console
from dispatch_cli.render.console import Rows, plain, to_text
from dispatch_cli.render.findings import SEVERITY_STYLES
from dispatch_cli.render.rules import GROUPS, facts, groups
from dispatch_cli.render.style import Style
from dispatch_cli.render.text_safety import safe_lines
from dispatch_cli.report.rules import RulesReport, blocks


def rules_text(report: RulesReport, style: Style) -> Iterator[str]:
    """The list by group, or the documentation of each check."""
    if not report.whole:
        yield to_text(_list(report), style)
        return
    for position, check in enumerate(report.checks):
        yield "\n\n" if position else ""
        yield to_text(_one(check), style)


def _list(report: RulesReport) -> Iterator[RenderableType]:
    width = max(len(check.id) for check in report.checks) + 2
    for group, checks in groups(report.checks):
        yield Text.assemble((GROUPS[group], console.HEAD), (f" ({group.value})", console.DIM))
        table = Rows(["Code", "Check", "Severity", "What it holds up"], indent=2)
        for check in checks:
            name = check.id if check.default else f"{check.id} *"
            severity = Text(check.severity.value, SEVERITY_STYLES[check.severity])
            table.add_row(plain(check.code), plain(f"{name:<{width}}"), severity, plain(check.title))
        yield table
        yield Text()
    count, default = len(report.checks), sum(check.default for check in report.checks)
    rest = f", {default} by default; * with --select only" if default < count else ""
    yield plain(f"{count} checks{rest}. `dispatch-cli rule ID` says why, shows examples, and how to fix.", console.DIM)


def _one(check: Check) -> Iterator[RenderableType]:
    yield Text.assemble((check.id, console.HEAD), (f" ({check.code})", console.DIM))
    yield plain(facts(check), console.DIM)
    for block in blocks(check.documentation):
        yield Text()
        if block.code:
            yield Text("\n".join(f"    {line}" for line in block.text.split("\n")), console.ALIAS)
        else:
            yield Text(safe_lines(_flowing(block.text)))


def _flowing(text: str) -> str:
    """A paragraph in one line, for the terminal to wrap; the items of a list keep a line each."""
    return "\n".join(" ".join(item.split()) for item in re.split(r"\n(?=[-*] )", text))
