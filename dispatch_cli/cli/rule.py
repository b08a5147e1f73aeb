"""``dispatch-cli rule``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import output_options, style_for, write

if TYPE_CHECKING:
    from dispatch_cli.render.style import Style
    from dispatch_cli.report.rules import RulesReport


@click.command("rule")
@click.argument("checks", nargs=-1, metavar="[CHECK]...")
@output_options(("text", "json", "csv", "markdown"))
def command(checks: tuple[str, ...], format_: str, output: str | None, color: str) -> None:
    """List the checks of check-invariants, or explain some: why, bad and good examples, the fix.

    CHECK is an id, a code, or how either begins.
    """
    from dispatch_cli.checks.selection import UnknownCheck
    from dispatch_cli.model.settings import Selector
    from dispatch_cli.report.rules import rules_report

    try:
        report = rules_report([Selector(part) for text in checks for part in text.split(",")])
    except UnknownCheck as error:
        hint = f"Did you mean {error.similar}?" if error.similar else "`dispatch-cli rule` lists them."
        raise click.UsageError(f"{error}. {hint}") from None
    write(_render(report, format_, style_for(sys.stdout, color, output)), output)


def _render(report: RulesReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.rules_text import rules_text

        return rules_text(report, style)
    from dispatch_cli.render.machine import csv_text, markdown_text
    from dispatch_cli.render.rules import rules_json, rules_markdown, rules_sheet

    if format_ == "json":
        return rules_json(report)
    if format_ == "markdown":
        return rules_markdown(report) if report.whole else markdown_text(rules_sheet(report))
    return csv_text(rules_sheet(report))
