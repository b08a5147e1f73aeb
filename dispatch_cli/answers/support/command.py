"""``dispatch-cli support``"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.resolve.command import tensor_option
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import (
    SourceOptions,
    as_sentence,
    chosen_operators,
    filter_option,
    load_state,
    note_conditions,
    source_options,
)
from dispatch_cli.cli.output import Output, output_options, say_written, show, write
from dispatch_cli.cli.source_reading import source_arguments

if TYPE_CHECKING:
    from dispatch_cli.engine.state import State
    from dispatch_cli.engine.support.cell import Column
    from dispatch_cli.model.names import OperatorName


@click.command("support", cls=Command)
@source_options
@filter_option("all; with files over a base, those for which the files register or change something")
@click.option(
    "--device",
    "devices",
    multiple=True,
    metavar="DEVICE",
    shell_complete=completion("devices"),
    help="A backend, such as cuda or PrivateUse1. Repeatable. Default: those for which the files register kernels.",
)
@click.option(
    "--context",
    "contexts",
    multiple=True,
    metavar="TEXT",
    shell_complete=completion("columns"),
    help="Only these columns: eager, train, fake, compile, vmap, grad, jvp, autocast, inference. Any other context of "
    "`resolve`, such as 'autocast cpu', is a further column. Repeatable.",
)
@tensor_option
@click.option("--full", is_flag=True, help="Show a row for each operator, also where many are equal.")
@click.option("--record", is_flag=True, help="Write what works as promises, a declaration file for check-invariants.")
@output_options("svg")
def command(
    source: SourceOptions,
    ops: tuple[str, ...],
    devices: tuple[str, ...],
    contexts: tuple[str, ...],
    tensors: tuple[str, ...],
    full: bool,
    record: bool,
    out: Output,
) -> None:
    """Show where operators work: on each backend, called eagerly, trained, compiled, in vmap and other transforms.

    Each operator is called in each context, by simulation: on tensors of the backend, with a gradient, with fake
    tensors (as torch.compile and torch.export trace), functionalized as torch.compile does, in vmap, grad and jvp of
    torch.func, under autocast, and in inference mode. A --tensor, such as 'sparse' or 'quantized', is a further column
    on each backend. Where compile fails, torch.compile with fullgraph=True and torch.export do; without fullgraph, a
    graph break may go around the call.

    A cell says what serves the call, or why it does not work. Kernels are taken to do what their schemas and fake
    kernels say, and composite ones to call operators. `dispatch-cli resolve` shows the call behind a cell; the answer
    has the commands.
    """
    from dispatch_cli.model.calls.support import PROMISED

    words = {context.value for context in PROMISED}
    if record and (out.format != "text" or tensors or full or not words.issuperset(contexts)):
        raise click.UsageError(
            "--record writes promises; it takes no --format, --tensor or --full, and no --context but "
            f"{', '.join(context.value for context in PROMISED)}."
        )
    state = load_state(source, ops=ops)
    names = chosen_operators(state, ops, own=True)
    note_conditions(state, names, out)
    columns = _columns(state, names, devices, contexts, tensors)
    from dispatch_cli.answers.support.report import support_report
    from dispatch_cli.engine.support.verdicts import support_rows

    if record:
        from dispatch_cli.answers.support.document import record_yaml, recorded_promises
        from dispatch_cli.api import further_states

        states = chain([state], (further for further, _ in further_states(state)))
        rows = (
            row
            for each in states
            for row in support_rows(each, [name for name in names if name in each.dispatcher], columns)
        )
        promises = [*recorded_promises(state, rows, columns)]
        write(record_yaml(promises), out.file, kind="data")
        if out.file is not None:
            from dispatch_cli.render.words import plural

            say_written(out.file, plural(len(promises), "promise"))
        return
    report = support_report(state, columns, [*support_rows(state, names, columns)], source_arguments())
    show(report, out, full=full)


def _columns(
    state: State,
    names: list[OperatorName],
    devices: tuple[str, ...],
    contexts: tuple[str, ...],
    tensors: tuple[str, ...],
) -> tuple[Column, ...]:
    """The columns that are asked for; Errors: InputError, UsageError for what is none."""
    from dispatch_cli.answers.resolve.call_request import read_thread
    from dispatch_cli.engine.support.columns import support_columns
    from dispatch_cli.model.calls.call import CONTEXT_WORDS, CallError
    from dispatch_cli.model.calls.support import PROMISED, SupportContext
    from dispatch_cli.model.problem import InputError, Problem
    from dispatch_cli.model.text.suggest import suggestion

    words = [context.value for context in PROMISED]
    wanted = [SupportContext(text) for text in dict.fromkeys(contexts) if text in words]
    others = [text for text in dict.fromkeys(contexts) if text not in words]
    problems = [
        Problem("context", f"--context {text!r} is no context", hint=hint)
        for text in others
        if text.partition(" ")[0] not in CONTEXT_WORDS and (hint := suggestion(text, words)) is not None
    ]
    if not problems:
        specs, entered = read_thread(state.dispatcher.universe, dict.fromkeys(tensors), others, problems)
    if problems:
        raise InputError(tuple(problems))
    custom = [*((spec, ()) for spec in specs), *((None, (context,)) for context in entered)]
    try:
        return support_columns(state, names, devices, wanted, custom)
    except CallError as error:
        message = f"{error.message}.{as_sentence(error.hint)}"
        raise click.BadParameter(message, param_hint="'--device'") from None
