"""Running a program for ``dispatch-cli trace``, and showing what was recorded of it."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from dispatch_cli.cli.options import matching_names
from dispatch_cli.cli.output import BadInput, Output, refuse_input, refuse_unwritable, say_note, show
from dispatch_cli.cli.system import CannotWrite

if TYPE_CHECKING:
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.trace.selected import Wanted


class TraceAsked(NamedTuple):
    """Options of a question about a recording."""

    ops: tuple[str, ...]
    only: tuple[str, ...]
    explain: int | None
    limit: int
    full: bool


def trace_view(file: str) -> TraceView:
    """A recording, read, with what the engine says of it. Errors: InputError."""
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.trace.recording import read
    from dispatch_cli.trace.state import state_of

    recording = read(file)
    return TraceView(recording, state_of(recording))


def show_trace(view: TraceView, asked: TraceAsked, out: Output) -> None:
    """Write the answer. Exits with 2 where something is asked for that the recording does not have."""
    check_together(asked, out)
    if asked.explain is not None:
        _explain(view, asked.explain, out, asked.full)
        return
    from dispatch_cli.answers.trace.report import trace_report

    wanted = _wanted(view, asked)
    report = trace_report(view, wanted)
    limit = None if asked.full else asked.limit or None
    show(report, out, None, **({} if out.format in ("json", "csv") else {"limit": limit}))


def check_together(asked: TraceAsked, out: Output) -> None:
    """Refuse options that say nothing beside each other."""
    if asked.explain is not None:
        if out.format == "csv":
            raise click.UsageError("--explain has no format csv.")
        for option, value in (("op", asked.ops), ("only", asked.only)):
            if value:
                raise click.UsageError(f"--explain shows one call, by its number; it takes no --{option}.")


def _explain(view: TraceView, number: int, out: Output, full: bool) -> None:
    """Show one call as `resolve` does."""
    from dispatch_cli.answers.trace.call import trace_call_report

    count = len(view.recording.calls)
    if number >= count:
        known = f"the recording has the calls 0 to {count - 1}" if count else "the recording has no calls"
        raise click.BadParameter(f"there is no call {number}; {known}.", param_hint="'--explain'")
    report = trace_call_report(view, number)
    if report is None:
        problem = view.path(number).problem
        raise click.UsageError(f"Nothing is known of call {number} of {view.recording.operator_of(number)}: {problem}.")
    show(report, out, "resolve", full=full)


def _wanted(view: TraceView, asked: TraceAsked) -> Wanted:
    """The calls that the options ask for; exits with 2 when a glob chooses no operator of the recording."""
    from dispatch_cli.trace.facts import CallFact
    from dispatch_cli.trace.selected import Wanted

    none = "the program called no operator that matches"
    chosen, _ = matching_names(asked.ops, view.recording.operators, none=none)
    return Wanted(frozenset(chosen) if asked.ops else None, tuple(map(CallFact, asked.only)))


class RunAsked(NamedTuple):
    """Options of a run."""

    program: tuple[str, ...]
    is_module: bool
    python: str | None
    save: str | None
    max_size: int | None
    no_state: bool
    verify: bool


def last_or_exit(program: tuple[str, ...], is_module: bool) -> str:
    """The last recording. Exits with 2 where there is none, and where a program is named as well."""
    from dispatch_cli.trace.cache import last_recording

    if program or is_module:
        raise click.UsageError("--last shows the last recording: give no program and no other recording.")
    latest = last_recording()
    if latest is None:
        raise click.UsageError("There is no last recording: run a program first, without --save.")
    return latest


def run_program(run: RunAsked, asked: TraceAsked, out: Output) -> None:
    """Become the program; a copy of this process shows its calls. Exits with 2 where it cannot be run."""
    if not run.program:
        what = "a MODULE" if run.is_module else "a SCRIPT to run, -m MODULE, a RECORDING to show, or --last"
        raise click.UsageError(f"Give {what}.")
    from dispatch_cli.capture.run import executable_of
    from dispatch_cli.trace.build import library_for
    from dispatch_cli.trace.cache import run_folder
    from dispatch_cli.trace.launch import become, check_script, variables
    from dispatch_cli.trace.recording import is_recording

    check_together(asked, out)
    _check_targets(run, out)
    if not run.is_module:
        check_script(run.program[0])
    python = executable_of(run.python)
    with ExitStack() as stack:
        words = (*(["-m"] if run.is_module else []), *run.program)
        try:
            folder = stack.enter_context(run_folder())
            file = run.save or os.path.join(folder, "recording")  # noqa: PTH118
            added = variables(
                words,
                library_for(python, folder),
                file,
                megabytes=run.max_size or 256,
                state=not run.no_state,
                kernels=run.verify,
            )
            stack.enter_context(become([python, *words], added, folder))
        except OSError as error:
            raise click.UsageError(f"{python} cannot be run: {error.strerror or error}.") from None
        if not is_recording(file):
            why = "the program has not imported PyTorch, or its Python does not read PYTHONPATH"
            say_note(f"nothing was recorded: {why}")
        else:
            _show_run(file, run.save is None, asked, out)


def _check_targets(run: RunAsked, out: Output) -> None:
    """Refuse files that cannot be written, and the program itself, before it runs. Errors: CannotWrite."""
    from dispatch_cli.model import read_files
    from dispatch_cli.trace.recording import is_recording

    read_files.start()
    if not run.is_module:
        read_files.note(run.program[0])
    if run.save is not None:
        refuse_unwritable(run.save, in_place=True)
        refuse_input(run.save)
        read_files.note(run.save)  # the recording must not be the answer
    if out.file is not None:
        refuse_unwritable(out.file)
        refuse_input(out.file)
    if run.save is not None and Path(run.save).exists():
        if not Path(run.save).is_file():
            raise CannotWrite(f"cannot write {run.save}: a recording needs a regular file")
        if Path(run.save).stat().st_size and not is_recording(run.save):
            raise CannotWrite(f"cannot write {run.save}: the file is there, and is no recording")


def _show_run(file: str, keeps: bool, asked: TraceAsked, out: Output) -> None:
    """Show a recording beside what the program printed. keeps: make it the last one.

    What goes wrong with it does not change how the run ends.
    """
    from dispatch_cli.model.problem import InputError

    note = None
    asks_for_stdout = click.get_current_context().get_parameter_source("output") is ParameterSource.COMMANDLINE
    with nullcontext() if out.file is not None or asks_for_stdout else redirect_stdout(sys.stderr):
        try:
            try:
                view = trace_view(file)
            finally:
                if keeps:
                    file, note = _kept(file)
            view.recording.file = file
            if not len(view.recording.calls):
                why = "; ".join(reason.text for reason in view.recording.stopped) or "the program made no calls"
                note = f"nothing was recorded: {why}"
            else:
                show_trace(view, asked, out)
        except KeyboardInterrupt:
            note = f"interrupted; {note or f'`dispatch-cli trace {file}` shows the calls'}"
        except InputError as error:
            BadInput(error, out.color).show()
        except click.ClickException as error:
            say_note(error.format_message())
        except Exception as error:  # the program has ended as it has
            say_note(f"the calls cannot be shown, which is a bug of dispatch-cli: {type(error).__name__}: {error}")
    if note is not None:
        say_note(note)


def _kept(file: str) -> tuple[str, str]:
    """The path of a recording that is kept as the last one, and a note on what shows it again."""
    from dispatch_cli.trace.cache import keep

    try:
        path = str(keep(file))
    except OSError as error:
        return file, f"these calls are not kept: {error.strerror or error}; --save FILE keeps them elsewhere"
    return path, "`dispatch-cli trace --last` shows these calls again, with --full all lines"
