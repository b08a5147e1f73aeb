"""``dispatch-cli trace``"""

from __future__ import annotations

from typing import Any, cast

import click

from dispatch_cli.answers.findings.crossref.command_options import python_option
from dispatch_cli.answers.trace.command_run import (
    RunAsked,
    TraceAsked,
    last_or_exit,
    run_program,
    show_trace,
    trace_view,
)
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import op_option
from dispatch_cli.cli.output import Output, output_option, output_options

ONLY = ("fallback", "decomposes", "no-gradient", "stale", "python", "raised")
"""Values of --only: those of `dispatch_cli.trace.facts.CallFact`, which is not imported for it."""


class _TraceCommand(Command):
    """Before the name of a program options are ours; behind it, all is the program's. With a recording they stand
    anywhere.
    """

    allow_interspersed_args = False

    def make_parser(self, ctx: click.Context) -> Any:
        """A parser that looks at what the first argument is."""
        parser: Any = super().make_parser(ctx)
        parse = parser.parse_args

        def parse_args(args: list[str]) -> Any:
            parsed = parse(list(args))
            if _recording_in(parsed[0]) is None:
                return parsed
            parser.allow_interspersed_args = True
            return parse(args)

        parser.parse_args = parse_args
        return parser

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Behind the name of a program, files only."""
        if ctx.params.get("program") and _recording_in(ctx.params) is None:
            return completion("files")(ctx, self.params[0], incomplete)
        return super().shell_complete(ctx, incomplete)


def _recording_in(values: dict[str, Any]) -> str | None:
    """The recording among the arguments; None where a program is to be run, or nothing is said."""
    words = values.get("program")
    if not isinstance(words, tuple) or not words or values.get("is_module"):
        return None
    from dispatch_cli.trace.recording import is_recording

    return cast("str", words[0]) if is_recording(words[0]) else None


@click.command("trace", cls=_TraceCommand)
@click.argument(
    "program",
    nargs=-1,
    type=click.UNPROCESSED,
    metavar="{SCRIPT|-m MODULE|RECORDING} [ARGS]...",
    shell_complete=completion("files"),
)
@click.option("-m", "is_module", is_flag=True, help="Run a module, as `python -m` does.")
@click.option("--last", "last", is_flag=True, help="Show the last program again that was run without --save.")
@python_option
@output_option("--save", does="Keep the recording in FILE.")
@click.option(
    "--max-size",
    type=click.IntRange(1, 4096),
    metavar="MB",
    help="Record no further calls when the recording has that size. Default: 256.",
)
@click.option(
    "--no-state",
    is_flag=True,
    help="Do not record what is registered when the program ends. An embedded state explains the calls then.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="Observe every kernel, not only the first of each call: kernels that take notes are put before the others.",
)
@op_option("Only calls of operators that match.")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(ONLY),
    help="Only calls that reach a backend fallback, decompose into other operators, want gradients and get none, find "
    "a stale slot, run Python, or raise. Repeatable.",
)
@click.option("--explain", type=click.IntRange(min=0), metavar="N", help="Explain call N as `resolve` does.")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    metavar="N",
    help="Show the N lines of calls that took longest as text, Markdown or HTML; 0 is all. Other formats have all.",
)
@click.option("--full", is_flag=True, help="Show all lines of calls; with --explain, PyTorch's error texts in full.")
@output_options()
def command(
    program: tuple[str, ...],
    is_module: bool,
    last: bool,
    python: str | None,
    save: str | None,
    max_size: int | None,
    no_state: bool,
    verify: bool,
    ops: tuple[str, ...],
    only: tuple[str, ...],
    explain: int | None,
    limit: int,
    full: bool,
    out: Output,
) -> None:
    """Run a program and show every call that PyTorch's dispatcher got in it: with the kernels of each in turn, and why.

    The program runs as `python SCRIPT` or `python -m MODULE` runs it, with its own input, output and exit code.
    Options stand before it; what stands behind it is its own. When it ends, its calls are shown on standard error,
    or written to the file of -o. A RECORDING of an earlier run is shown on standard output. What records is compiled
    before the first run, for each PyTorch: that needs a C++ compiler, and takes up to a minute. It is kept in the cache
    folder of the user, or in DISPATCH_CLI_CACHE_DIR, which is not used inside a git checkout.

    The key of the first kernel of a call follows from the keys of its tensors and the state of its thread, which are
    recorded. The kernel is the one that the operator's table held there when it was called. The kernels after it are
    predicted, as `resolve` predicts them; with --verify their keys are observed as well. Calls that are alike and
    made by the calls of one line are one line, with a count. Calls keep their numbers, whatever is shown.

    Of the tree of calls the lines are shown that took longest, with --full all. Below it are the operators with their
    kernels, and at the end what is worth knowing: backend fallbacks, operators without a backward whose tensors require
    gradients, decompositions of operators that have a kernel at another backend, stale slots. Times include the calls
    inside of a call, and what recording costs.
    """
    asked = TraceAsked(ops, only, explain, limit, full)
    context = click.get_current_context()
    recording = last_or_exit(program, is_module) if last else _recording_in(context.params)
    if recording is None:
        run = RunAsked(program, is_module, python, save, max_size, no_state, verify)
        run_program(run, asked, out)
        return
    of_a_run = [name for name in RunAsked._fields if name not in ("program", "is_module") and context.params[name]]
    if of_a_run:
        option = f"--{of_a_run[0].replace('_', '-')}"
        raise click.UsageError(f"{option} says how a program is run, and {recording} is a recording.")
    if len(program) > 1:
        raise click.UsageError(f"Give one recording; {program[1]} is too much.")
    show_trace(trace_view(recording), asked, out)
