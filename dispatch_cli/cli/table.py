"""``dispatch-cli table``"""

from __future__ import annotations

import sys

import click

from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_keys,
    chosen_of_both_kinds,
    filter_option,
    load_state,
    output_options,
    source_options,
    style_for,
    warn_of_overrides,
    write,
)

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
@click.option(
    "--resolver",
    type=click.Choice(("cpp", "python", "differences")),
    default="cpp",
    show_default=True,
    help="The C++ table; what Python's resolve_key chooses, errors included; or only where the two differ, and why.",
)
@output_options(("text", "json", "csv", "markdown", "raw"))
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    key_globs: tuple[str, ...],
    all_rows: bool,
    view: str,
    resolver: str,
    format_: str,
    output: str | None,
    color: str,
) -> None:
    """Show the computed dispatch table: which kernel runs at which key, and why.

    Neighbouring slots with the same answer are one row; --all unfolds them. JSON and CSV always have every slot.
    With --format raw the answer is what torch._C._dispatch_dump_table prints.

    Higher-order operators have no C++ table: theirs is what resolve_key chooses among their rules.
    """
    _check(view, resolver, format_, bool(key_globs))
    state = load_state(source, color)
    names, higher_order = chosen_of_both_kinds(state, ops)
    slots = chosen_keys(state.dispatcher, key_globs)
    warn_of_overrides(state, color)
    style = style_for(sys.stdout, color, output)
    if format_ == "raw":
        from dispatch_cli.render.raw import raw_tables

        if not names:
            raise click.UsageError("PyTorch prints no table of a higher-order operator; use another --format.")
        write(raw_tables(state.dispatcher, names), output)
        return
    if resolver == "differences":
        from dispatch_cli.cli.table_views import differences

        if not names:
            raise click.UsageError("A higher-order operator has no C++ table that Python could differ from.")

        write(differences(state, names, slots, format_, style), output)
        return
    if view == "auto":
        many = len(names) + len(higher_order) > MANY
        view = "summary" if many and slots is None and not all_rows and format_ in ("text", "markdown") else "rows"
    from dispatch_cli.cli.table_views import TableOptions, tables

    asked = TableOptions(tuple(names), higher_order, slots, view, all_rows, resolver == "python")
    write(tables(state, asked, format_, style), output)


def _check(view: str, resolver: str, format_: str, by_key: bool) -> None:
    """Refuse options that say nothing together."""
    if view == "grid" and format_ != "text":
        raise click.UsageError(f"--view grid is for people; --format {format_} has every slot without it.")
    if resolver != "cpp" and view == "grid":
        raise click.UsageError("--view grid shows the C++ table; leave out --resolver.")
    if resolver != "cpp" and format_ == "raw":
        raise click.UsageError("--format raw is PyTorch's dump of the C++ table; leave out --resolver.")
    if format_ == "raw" and by_key:
        raise click.UsageError("--format raw is PyTorch's whole dump; it can not be filtered by --key.")
