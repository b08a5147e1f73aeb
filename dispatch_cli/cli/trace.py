"""``dispatch-cli trace``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.completion import complete_files, complete_operators, complete_runtime_keys
from dispatch_cli.cli.options import SourceOptions, as_sentence, load_state
from dispatch_cli.cli.output import BadInput, Output, output_options, show, write
from dispatch_cli.cli.trace_run import (
    ProgramOptions,
    TraceCommand,
    check_program,
    exit_with,
    note_nothing,
    recording_of,
)

if TYPE_CHECKING:
    from dispatch_cli.report.trace_view import TraceView
    from dispatch_cli.trace.selected import Wanted

ONLY = ("fallback", "decomposes", "no-gradient", "stale", "python")
"""What --only takes: `dispatch_cli.trace.facts.Fact`, which is not imported for it."""
ROWS = 1000
CHROME = "chrome"


@click.command("trace", cls=TraceCommand)
@click.argument(
    "words", nargs=-1, metavar="[RECORDING | SCRIPT [ARGS]...]", type=click.UNPROCESSED, shell_complete=complete_files
)
@click.option("-m", "module", metavar="MODULE", help="Run a module, as `python -m` does; arguments are the program's.")
@click.option(
    "--python",
    metavar="PATH",
    shell_complete=complete_files,
    help="The Python that runs the program. Default: the one that runs dispatch-cli.",
)
@click.option("--save", metavar="FILE", shell_complete=complete_files, help="Keep the recording in FILE.")
@click.option(
    "--max-size", "megabytes", type=click.IntRange(1, 4096), metavar="MB", help="End the recording at this size."
)
@click.option("--no-lines", is_flag=True, help="Record no lines of Python, which takes a part of the time.")
@click.option("--last", is_flag=True, help="Show the last recording that was made without --save.")
@click.option(
    "--recorder",
    is_flag=True,
    help="Print the path of the script that records, to be run by another command: PYTHON PATH --save FILE -m pytest.",
)
@click.option(
    "--op",
    "ops",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_operators,
    help="Only calls of operators that match.",
)
@click.option(
    "--key",
    "keys",
    multiple=True,
    metavar="GLOB",
    shell_complete=complete_runtime_keys,
    help="Only calls that run a kernel at a key that matches.",
)
@click.option(
    "--line",
    "lines",
    multiple=True,
    metavar="FILE[:N]",
    shell_complete=complete_files,
    help="Only calls from this file of Python, or from line N of it. The end of a path is enough.",
)
@click.option(
    "--where",
    metavar="CPU->CUDA",
    help="Only calls with a tensor on the one device and a result on the other; * is any.",
)
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(ONLY),
    help="Only calls that reach a backend fallback, decompose into other operators, want gradients and get none, find "
    "a stale slot, or run Python. Repeatable.",
)
@click.option(
    "--depth", type=click.IntRange(min=1), metavar="N", help="Show N levels of calls inside of calls. Default: all."
)
@click.option("--explain", type=click.IntRange(min=0), metavar="N", help="Explain call N as `resolve` does.")
@click.option(
    "--kernels",
    multiple=True,
    metavar="FILE",
    shell_complete=complete_files,
    help="Which kernels that FILE registers ran, and which never did. Repeatable.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=ROWS,
    show_default=True,
    metavar="N",
    help="Show N lines of calls as text, Markdown or HTML; 0 is all. Other formats have all.",
)
@click.option("--full", is_flag=True, help="With --explain, show PyTorch's error texts in full.")
@output_options(CHROME)
def command(
    words: tuple[str, ...],
    module: str | None,
    python: str | None,
    save: str | None,
    megabytes: int | None,
    no_lines: bool,
    last: bool,
    recorder: bool,
    ops: tuple[str, ...],
    keys: tuple[str, ...],
    lines: tuple[str, ...],
    where: str | None,
    only: tuple[str, ...],
    depth: int | None,
    explain: int | None,
    kernels: tuple[str, ...],
    limit: int,
    full: bool,
    out: Output,
) -> None:
    """Run a program, and show its calls of PyTorch's operators as a tree, with the kernels of each in turn.

    The program runs as ever, with its own output and exit code; the answer is written to standard error. Options come
    before SCRIPT. A RECORDING is shown on standard output.

    The first kernel of a call follows from the keys of its tensors and the state of its thread, which are recorded. The
    kernels after it are predicted, as `resolve` predicts them. Calls and groups of calls that repeat are shown once,
    with a count. Calls keep their numbers, whatever is shown.

    At the end are all operators with their kernels, and what is worth knowing: backend fallbacks, results without
    gradients, decompositions of operators that have a kernel at another backend, casts by autocast, stale slots.

    --format chrome writes events for chrome://tracing and Perfetto.
    """
    if recorder:
        from pathlib import Path

        write([f"{Path(__file__).resolve().parents[1] / 'trace' / 'recorder.py'}\n"], None, for_people=True)
        return
    asked = ProgramOptions(words, module, python, save, megabytes, not no_lines, last)
    check_program(asked)
    file, code = recording_of(asked)
    if code is None or not note_nothing(file):
        _answer(file, ops, keys, lines, where, only, depth, explain, kernels, limit, full, out, code is not None)
    exit_with(code)


def _answer(
    file: str,
    ops: tuple[str, ...],
    keys: tuple[str, ...],
    lines: tuple[str, ...],
    where: str | None,
    only: tuple[str, ...],
    depth: int | None,
    explain: int | None,
    kernels: tuple[str, ...],
    limit: int,
    full: bool,
    out: Output,
    aside: bool,
) -> None:
    """Show a recording. aside: on standard error, since standard output is the program's."""
    from dispatch_cli.model.problem import InputError

    try:
        view = _view(file)
        if explain is not None:
            _explain(view, explain, out, full, aside)
            return
        wanted = _wanted(view, ops, keys, lines, where, only)
        if out.format == CHROME:
            from dispatch_cli.render.chrome import chrome_text

            write(chrome_text(view, view.select(wanted)), out.file, kind="data", aside=aside)
            return
        from dispatch_cli.report.trace import trace_report

        own = None
        if kernels:
            own = load_state(SourceOptions(kernels, (), None, (view.base,)), out.color)
        report = trace_report(view, wanted, depth, own)
    except InputError as error:
        raise BadInput(error, out.color) from None
    show(report, out, None, aside, **({} if out.format in ("json", "csv") else {"limit": limit or None}))


def _view(file: str) -> TraceView:
    """Errors: InputError."""
    from dispatch_cli.report.trace_view import TraceView
    from dispatch_cli.trace.recording import read
    from dispatch_cli.trace.state import state_of

    recording = read(file)
    return TraceView(recording, state_of(recording))


def _explain(view: TraceView, number: int, out: Output, full: bool, aside: bool) -> None:
    """Show one call as `resolve` does."""
    from dispatch_cli.report.trace_call import trace_call_report

    if out.format in ("csv", CHROME):
        raise click.UsageError(f"--explain has no format {out.format}.")
    count = len(view.recording.calls)
    if number >= count:
        known = f"the recording has the calls 0 to {count - 1}" if count else "the recording has no calls"
        raise click.BadParameter(f"there is no call {number}; {known}.", param_hint="'--explain'")
    report = trace_call_report(view, number)
    if report is None:
        problem = view.path(number).problem
        raise click.UsageError(f"Nothing is known of call {number} of {view.recording.operator_of(number)}: {problem}.")
    show(report, out, None, aside, full=full)


def _wanted(
    view: TraceView,
    ops: tuple[str, ...],
    keys: tuple[str, ...],
    lines: tuple[str, ...],
    where: str | None,
    only: tuple[str, ...],
) -> Wanted:
    """What the options ask for; exits with 2 where one asks for nothing that the recording has."""
    from dispatch_cli.cli.options import chosen_keys
    from dispatch_cli.trace.devices import DeviceChange
    from dispatch_cli.trace.facts import CallFact
    from dispatch_cli.trace.selected import PythonLine, Wanted

    asked = tuple(map(PythonLine.parse, lines))
    for text, line in zip(lines, asked, strict=True):
        if not any(line.has(place) for place in view.recording.places):
            files = sorted({place.file for place in view.recording.places})
            known = f"The calls come from {', '.join(files[:5])}." if files else "The recording has no lines of Python."
            raise click.BadParameter(f"no call comes from {text!r}. {known}", param_hint="'--line'")
    change = None
    if where is not None:
        change = DeviceChange.parse(where)
        if change is None:
            raise click.BadParameter("give two devices, such as 'cpu->cuda'.", param_hint="'--where'")
    return Wanted(
        _operators(view, ops),
        chosen_keys(view.state.dispatcher.universe, keys),
        asked,
        change,
        tuple(map(CallFact, only)),
    )


def _operators(view: TraceView, ops: tuple[str, ...]) -> frozenset[str] | None:
    """The operators of the recording that --op chooses, None for all; exits with 2 when a glob chooses none."""
    from dispatch_cli.report.selection import select_names, similar_names

    names = view.recording.operators
    chosen: set[str] = set()
    for glob in ops:
        found = select_names(names, glob)
        if not found:
            from dispatch_cli.model.suggest import did_you_mean

            hint = as_sentence(did_you_mean(similar_names(names, glob)))
            raise click.BadParameter(
                f"the program called no operator that matches {glob!r}.{hint}", param_hint="'--op'"
            )
        chosen.update(found)
    return frozenset(chosen) if ops else None
