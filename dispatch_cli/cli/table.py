"""``dispatch-cli table``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    Source,
    chosen_keys,
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
    from dispatch_cli.report.table import TableReport

MANY = 4
"""More operators than this are summarised, unless the keys are chosen."""


@click.command("table")
@source_options
@filter_option(OWN_OR_ALL)
@click.option("--key", "key_globs", multiple=True, metavar="GLOB", help="Only runtime keys whose name matches.")
@click.option("--all", "all_rows", is_flag=True, help="Every slot a row of its own, missing ones too.")
@click.option(
    "--view",
    type=click.Choice(("auto", "rows", "grid", "summary")),
    default="auto",
    show_default=True,
    help=f"Rows; a grid, functionalities by backends; or one summary row per operator. Auto sums up more than {MANY}.",
)
@output_options(("text", "json", "csv", "markdown", "raw"))
def command(
    source: Source,
    ops: tuple[str, ...],
    key_globs: tuple[str, ...],
    all_rows: bool,
    view: str,
    format_: str,
    output: str | None,
    color: str,
) -> None:
    """Show the computed dispatch table: which kernel runs at which key, and why.

    Neighbouring slots with the same answer are one row; --all unfolds them. JSON and CSV always have every slot.
    With --format raw the answer is what torch._C._dispatch_dump_table prints.
    """
    if view == "grid" and format_ != "text":
        raise click.UsageError(f"--view grid is for people; --format {format_} has every slot without it.")
    state = load_state(source, color)
    names = chosen_operators(state, ops, own=True)
    slots = chosen_keys(state.dispatcher, key_globs)
    warn_of_overrides(state, color)
    style = style_for(sys.stdout, color, output)
    if format_ == "raw":
        from dispatch_cli.render.raw import raw_tables

        if slots is not None:
            raise click.UsageError("--format raw is PyTorch's whole dump; it can not be filtered by --key.")
        write(raw_tables(state.dispatcher, names), output)
        return
    from dispatch_cli.report.table import table_report

    report = table_report(state, names, slots)
    if view == "auto":
        many = len(names) > MANY and slots is None and not all_rows and format_ in ("text", "markdown")
        view = "summary" if many else "rows"
    write(_render(state, report, view, all_rows, format_, style), output)


def _render(state: State, report: TableReport, view: str, all_rows: bool, format_: str, style: Style) -> Iterator[str]:
    autograd_keys = frozenset(state.dispatcher.universe.covered_by("Autograd"))
    if format_ == "text" and view == "grid":
        from dispatch_cli.render.grid import grids_text

        return grids_text(report, style, state.dispatcher.universe)
    if format_ == "text":
        from dispatch_cli.render.table import summary_text, table_text

        return summary_text(report, style) if view == "summary" else table_text(report, style, all_rows, autograd_keys)
    from dispatch_cli.render.machine import csv_text, markdown_text
    from dispatch_cli.render.table_machine import folded_sheet, summary_json, summary_sheet, table_json, table_sheet

    if format_ == "json":
        return summary_json(report) if view == "summary" else table_json(report)
    if view == "summary":
        sheet = summary_sheet(report)
    elif format_ == "markdown" and not all_rows:
        sheet = folded_sheet(report, autograd_keys)
    else:
        sheet = table_sheet(report)
    return (csv_text if format_ == "csv" else markdown_text)(sheet)
