"""``dispatch-cli table``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_keys,
    chosen_of_both_kinds,
    filter_option,
    key_option,
    load_state,
    note_conditions,
    source_options,
    warn_of_overrides,
)
from dispatch_cli.cli.output import Output, output_options, show, write

if TYPE_CHECKING:
    from collections.abc import Sized

    from dispatch_cli.answers.table.higher_order_report import HigherOrderSlots
    from dispatch_cli.model.names import OperatorName

MANY = 4
"""More operators than this are summarised, unless the keys are chosen."""


@click.command("table", cls=Command)
@source_options
@filter_option(OWN_OR_ALL)
@key_option("Only runtime keys whose name matches.")
@click.option("--full", is_flag=True, help="Show a row per slot, missing ones included.")
@click.option(
    "--view",
    type=click.Choice(("auto", "rows", "grid", "summary")),
    default="auto",
    show_default=True,
    help="How to show tables. rows: kernels with their keys; grid: functionalities by backends; summary: one row per "
    f"operator. auto: a summary for more than {MANY} operators.",
)
@output_options("raw", "svg")
def command(
    source: SourceOptions, ops: tuple[str, ...], key_globs: tuple[str, ...], full: bool, view: str, out: Output
) -> None:
    """Show the dispatch table: which kernel runs at which key, and why.

    A slot is the entry of the table for one runtime key. Slots with the same kind of kernel share a row: with the one
    that torchgen registers for each key, or with one kernel of an alias key. Slots that hold nothing, a fallback or a
    fallthrough of PyTorch's own are counted. --view rows, or --key, shows them, and only neighbours share a row; --full
    shows a row per slot. JSON and CSV always have every slot. --format raw prints what torch._C._dispatch_dump_table
    returns.

    A higher-order operator has no C++ table. Its table shows which of its Python implementations resolve_key chooses.
    """
    _check(view, out.format, bool(key_globs))
    state = load_state(source, ops=ops)
    names, higher_order = chosen_of_both_kinds(state, ops)
    keys = chosen_keys(state.dispatcher.universe, key_globs)
    note_conditions(state, names, out)
    warn_of_overrides(state, out.color, {*names})
    universe = state.dispatcher.universe
    if out.format == "raw":
        from dispatch_cli.render.raw import raw_tables

        if not names:
            raise click.UsageError("PyTorch has no table dump of a higher-order operator; use another --format.")
        write(raw_tables(state.dispatcher, names), out.file)
    elif view == "summary" or (view == "auto" and _sums_up(names, higher_order, keys, full, out.format)):
        from dispatch_cli.answers.table.higher_order_report import summaries_of
        from dispatch_cli.answers.table.report import summary_report

        show(summary_report(state, names, summaries_of(state, higher_order, keys)), out)
    else:
        from dispatch_cli.answers.table.report import table_report

        slots: tuple[HigherOrderSlots, ...] = ()
        if higher_order:  # else their module is not imported
            from dispatch_cli.answers.table.higher_order_report import slots_of

            slots = slots_of(state, higher_order, keys)
        report = table_report(state, names, keys, slots)
        if (view == "grid" and out.format not in ("json", "csv")) or out.format == "svg":
            show(report, out, "grid", universe=universe)
        elif out.format in ("json", "csv"):
            show(report, out)
        else:
            from dispatch_cli.answers.table.document import Rows

            folded = Rows.BY_KIND if view == "auto" and keys is None else Rows.FOLDED
            show(report, out, universe=universe, rows=Rows.EVERY_SLOT if full else folded)


def _sums_up(names: list[OperatorName], others: Sized, keys: frozenset[str] | None, full: bool, format_: str) -> bool:
    """True if operators are so many that each is summarised, where no slots are asked for."""
    return len(names) + len(others) > MANY and keys is None and not full and format_ in ("text", "markdown", "html")


def _check(view: str, format_: str, by_key: bool) -> None:
    """Refuse options that say nothing together."""
    if format_ == "svg" and view not in ("auto", "grid"):
        raise click.UsageError("--format svg draws the grid; remove --view.")
    if view == "grid" and format_ == "raw":
        raise click.UsageError("--view grid does not work with --format raw, which is PyTorch's dump.")
    if format_ == "raw" and by_key:
        raise click.UsageError("--format raw is PyTorch's whole dump, which --key cannot filter.")
