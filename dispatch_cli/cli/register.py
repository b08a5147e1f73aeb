"""``dispatch-cli register``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.completion import complete_registrable_keys
from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_keys,
    chosen_of_both_kinds,
    chosen_operators,
    filter_option,
    load_state,
    note_conditions,
    source_options,
    warn_of_overrides,
)
from dispatch_cli.cli.output import Output, output_options, show, write

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State


@click.command("register")
@source_options
@filter_option(f"{OWN_OR_ALL}; with --key all")
@click.option(
    "--key",
    "key_globs",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_registrable_keys,
    help="Instead: which operators have a kernel at exactly this key. Alias and functionality keys count, too.",
)
@click.option("--all", "all_rows", is_flag=True, help="With --key, list every operator, however many.")
@output_options("raw")
def command(
    source: SourceOptions, ops: tuple[str, ...], key_globs: tuple[str, ...], all_rows: bool, out: Output
) -> None:
    """Load declarations and show what they register.

    FILEs are applied one after the other. A registration that PyTorch refuses is an error; an overridden kernel is a
    warning. --format raw prints what torch._C._dispatch_dump returns; with --key, the names that
    torch._C._dispatch_print_registrations_for_dispatch_key prints, sorted.
    """
    state = load_state(source, out.color, ops=ops or key_globs)
    if key_globs:
        _show_keys(state, ops, key_globs, all_rows, out)
        return
    names, higher_order = chosen_of_both_kinds(state, ops)
    note_conditions(state, names, out.color)
    warn_of_overrides(state, out.color)
    if out.format == "raw":
        from dispatch_cli.render.raw import raw_registrations

        if not names and higher_order:
            raise click.UsageError("PyTorch has no dump of a higher-order operator; use another --format.")
        write(raw_registrations(state.dispatcher, names), out.file)
        return
    from dispatch_cli.report.registrations import registrations_report

    show(registrations_report(state, names, higher_order), out)


def _show_keys(state: State, ops: tuple[str, ...], key_globs: tuple[str, ...], all_rows: bool, out: Output) -> None:
    """The operators with a kernel at each key. Higher-order ones are not among them: Python keeps their kernels."""
    from dispatch_cli.report.key_registrations import key_registrations_report

    keys = chosen_keys(state.dispatcher.universe, key_globs, registrable=True)
    assert keys is not None, "a glob is there"
    names = chosen_operators(state, ops)
    note_conditions(state, names, out.color)
    warn_of_overrides(state, out.color)
    report = key_registrations_report(state, keys, names)
    if out.format == "raw":
        from dispatch_cli.render.raw import raw_key_registrations

        write(raw_key_registrations(report), out.file)
    else:
        show(report, out, all_rows=all_rows)
