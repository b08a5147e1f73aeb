"""``dispatch-cli guards``"""

from __future__ import annotations

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import (
    SourceOptions,
    chosen_keys,
    chosen_of_both_kinds,
    filter_option,
    key_option,
    load_state,
    note_conditions,
    source_options,
)
from dispatch_cli.cli.output import Output, output_options, say_note, say_written, show, write


@click.command("guards", cls=Command)
@source_options
@filter_option("all; with --record, files and a base, those for which the files register or change something")
@key_option("With --record: only runtime keys whose name matches.")
@click.option(
    "--guards",
    multiple=True,
    metavar="FILE",
    shell_complete=completion("files"),
    help="Also list the guards in FILE, a declaration file that registers nothing. Repeatable.",
)
@click.option("--record", is_flag=True, help="Write guards for the current state, as a declaration file.")
@output_options()
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    key_globs: tuple[str, ...],
    guards: tuple[str, ...],
    record: bool,
    out: Output,
) -> None:
    """List the guards and whether they hold, or record guards for the current state.

    --record writes guards that say at which keys each kernel runs, and where calls decompose. Where the files register
    kernels for an operator, only those kernels are guarded. The guards contain no line numbers of PyTorch's sources, so
    that they can be checked with other PyTorch versions too. Where registrations have conditions, the guards hold under
    all of them. Higher-order operators have no guards.

    The exit code is 1 when a guard does not hold, unless the declarations suppress that finding.
    """
    if key_globs and not record:
        raise click.UsageError("--key needs --record.")
    if record and out.format != "text":
        raise click.UsageError("--record writes a declaration file; it takes no --format.")
    if record and guards:
        raise click.UsageError("--record and --guards exclude each other; give one of them.")
    state = load_state(source, guards, ops)
    names, _ = chosen_of_both_kinds(state, ops)
    if record and ops and not names:
        raise click.UsageError("--op chooses higher-order operators alone, which have no guards.")
    if record:
        from dispatch_cli.answers.findings.guards.recorded import OtherStates, recorded_guards
        from dispatch_cli.answers.findings.guards.yaml_document import guards_yaml
        from dispatch_cli.api import further_states
        from dispatch_cli.render.words import plural

        slots = chosen_keys(state.dispatcher.universe, key_globs)
        others = OtherStates(further_states(state))
        written = [*recorded_guards(state, names, slots, bool(ops), others)]
        note_conditions(state, names, out, says_undecided=False)
        if others.left_out:
            of = plural(len({name for name, _ in others.left_out}), "operator")
            slots_text = f"{plural(len(others.left_out), 'slot')} of {of}"
            say_note(f"what differs in another combination is not recorded: {slots_text}")
        write(guards_yaml(written), out.file, kind="data")
        if out.file is not None:
            say_written(out.file, plural(len(written), "guard"))
        return
    from dispatch_cli.answers.findings.command_options import refuse_bad_settings
    from dispatch_cli.answers.findings.guards.report import guards_report

    refuse_bad_settings(state, ())
    report = guards_report(state, frozenset(names) if ops else None)
    show(report, out)
    raise click.exceptions.Exit(1 if report.failing else 0)
