"""``dispatch-cli check-invariants``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import (
    Source,
    chosen_operators,
    filter_option,
    load_state,
    output_options,
    source_options,
    style_for,
    warn_of_overrides,
    write,
)

if TYPE_CHECKING:
    from dispatch_cli.engine.state import State
    from dispatch_cli.render.style import Style
    from dispatch_cli.report.findings import FindingsReport


@click.command("check-invariants")
@source_options
@filter_option("all")
@output_options(("text", "json", "csv", "markdown", "raw", "sarif", "github", "junit"))
def command(
    source: Source,
    ops: tuple[str, ...],
    format_: str,
    output: str | None,
    color: str,
) -> None:
    """Check invariants and guards; for CI.

    What PyTorch's checkInvariants checks, with names and places; implementations that dangle; and the guards that
    the declarations set up. Exits with 1 when something does not hold.
    With --format github problems of the input become annotations too, and the exit code is 2 all the same.
    """
    state = load_state(source, color, annotate=format_ == "github" and output is None)
    names = chosen_operators(state, ops)
    warn_of_overrides(state, color)
    from dispatch_cli.report.findings import findings_report

    report = findings_report(state, names, frozenset(names) if ops else None)
    code = 1 if report.failing else 0
    write(_render(state, report, format_, style_for(sys.stdout, color, output)), output)
    raise click.exceptions.Exit(code)


def _render(state: State, report: FindingsReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.findings import findings_text

        return findings_text(report, style)
    if format_ == "raw":
        from dispatch_cli.render.raw import raw_findings

        return raw_findings(state.dispatcher, report)
    if format_ in ("sarif", "github", "junit"):
        return _render_for_ci(report, format_)
    from dispatch_cli.render.findings_machine import findings_json, findings_sheet
    from dispatch_cli.render.machine import csv_text, markdown_text

    if format_ == "json":
        return findings_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(findings_sheet(report))


def _render_for_ci(report: FindingsReport, format_: str) -> Iterator[str]:
    root = Path.cwd()
    if format_ == "sarif":
        from dispatch_cli.render.sarif import findings_sarif

        return findings_sarif(report, root)
    if format_ == "github":
        from dispatch_cli.render.github import findings_github

        return findings_github(report, root)
    from dispatch_cli.render.junit import findings_junit

    return findings_junit(report, root)
