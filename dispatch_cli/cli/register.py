"""``dispatch-cli register``"""

from __future__ import annotations

import click

from dispatch_cli.cli.options import (
    OWN_OR_ALL,
    SourceOptions,
    chosen_of_both_kinds,
    filter_option,
    load_state,
    note_conditions,
    source_options,
    warn_of_overrides,
)
from dispatch_cli.cli.output import Output, output_options, show, write


@click.command("register")
@source_options
@filter_option(OWN_OR_ALL)
@output_options("raw")
def command(source: SourceOptions, ops: tuple[str, ...], out: Output) -> None:
    """Load declarations and show what they register.

    FILEs are applied one after the other. A registration that PyTorch refuses is an error; an overridden kernel is a
    warning. --format raw prints what torch._C._dispatch_dump returns.
    """
    state = load_state(source, out.color, ops=ops)
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
