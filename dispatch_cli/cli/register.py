"""``dispatch-cli register``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_of_both_kinds,
    filter_option,
    load_state,
    output_options,
    source_options,
    style_for,
    warn_of_overrides,
    write,
)

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.render.style import Style


@click.command("register")
@source_options
@filter_option(OWN_OR_ALL)
@output_options(("text", "json", "csv", "markdown", "raw"))
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    format_: str,
    output: str | None,
    color: str,
) -> None:
    """Load declarations, run them, and show what is registered.

    FILEs are applied in order, as one history. Refused registrations are errors; overridden kernels are warned about.
    With --format raw the answer is what torch._C._dispatch_dump prints.
    """
    state = load_state(source, color)
    names, higher_order = chosen_of_both_kinds(state, ops)
    warn_of_overrides(state, color)
    write(_render(state, names, higher_order, format_, style_for(sys.stdout, color, output)), output)


def _render(
    state: State, names: list[OperatorName], higher_order: tuple[HigherOrderOperator, ...], format_: str, style: Style
) -> Iterator[str]:
    if format_ == "raw":
        from dispatch_cli.render.raw import raw_registrations

        if not names and higher_order:
            raise click.UsageError("PyTorch prints no dump of a higher-order operator; use another --format.")
        return raw_registrations(state.dispatcher, names)
    from dispatch_cli.report.registrations import registrations_report

    report = registrations_report(state, names, higher_order)
    if format_ == "text":
        from dispatch_cli.render.registrations import registrations_text

        return registrations_text(report, style)
    from dispatch_cli.render.machine import csv_text, markdown_text
    from dispatch_cli.render.registrations_machine import registrations_json, registrations_sheet

    if format_ == "json":
        return registrations_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(registrations_sheet(report))
