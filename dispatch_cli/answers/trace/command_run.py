"""Running a program for ``dispatch-cli trace``, and showing what was recorded of it."""

from __future__ import annotations

import sys
from contextlib import ExitStack, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click
from click.core import ParameterSource

from dispatch_cli.answers.trace.command_answer import TraceAsked, check_together, show_trace, trace_view
from dispatch_cli.cli.options import say_note
from dispatch_cli.cli.output import BadInput, Output, refuse_input, refuse_unwritable
from dispatch_cli.cli.system import CannotWrite

if TYPE_CHECKING:
    from dispatch_cli.trace.launch import RecordingPlace


class RunAsked(NamedTuple):
    """Options of a run."""

    program: tuple[str, ...]
    is_module: bool
    python: str | None
    save: str | None
    max_size: int | None
    no_lines: bool
    no_state: bool
    verify: bool


def last_or_exit(program: tuple[str, ...], is_module: bool) -> str:
    """The last recording. Exits with 2 where there is none, and where a program is named as well."""
    from dispatch_cli.trace.launch import last_recording

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
    from dispatch_cli.trace.launch import RecordingPlace, become, check_script, library_for, variables
    from dispatch_cli.trace.recording import is_recording

    check_together(asked, out)
    _check_targets(run, out)
    if not run.is_module:
        check_script(run.program[0])
    python = executable_of(run.python)
    with ExitStack() as stack:
        library = stack.enter_context(library_for(python, "" if run.is_module else _folder_of(run.program[0])))
        words = (*(["-m"] if run.is_module else []), *run.program)
        place = None
        try:
            file = run.save
            if file is None:
                place = RecordingPlace()
                stack.callback(place.remove)
                file = place.file
            added = variables(
                words,
                library,
                file,
                megabytes=run.max_size or 256,
                lines=not run.no_lines,
                state=not run.no_state,
                kernels=run.verify,
            )
            stack.enter_context(become([python, *words], added))
        except OSError as error:
            raise click.UsageError(f"{python} cannot be run: {error.strerror or error}.") from None
        if not is_recording(file):
            say_note("nothing was recorded")
        elif _show_run(file, place, asked, out) and place is not None:
            _say_where(place)


def _folder_of(script: str) -> str:
    """The folder from which it imports first."""
    path = Path(script)
    return str(path.absolute() if path.is_dir() else path.resolve().parent)


def _check_targets(run: RunAsked, out: Output) -> None:
    """Refuse files that cannot be written, and the program itself, before it runs. Errors: CannotWrite."""
    from dispatch_cli.model.reading import read_files
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


def _say_where(place: RecordingPlace) -> None:
    """Say how to see the calls again, or why that is not possible."""
    if place.not_kept is None:
        say_note("`dispatch-cli trace --last` shows these calls again, with --full all lines")
        return
    say_note(f"these calls are not kept: {place.not_kept}; --save FILE keeps them elsewhere")


def _show_run(file: str, place: RecordingPlace | None, asked: TraceAsked, out: Output) -> bool:
    """Show a recording beside what the program printed, and keep it; False where it has no calls.

    What goes wrong with it does not change how the run ends.
    """
    from dispatch_cli.model.reading.problem import InputError

    asks_for_stdout = click.get_current_context().get_parameter_source("output") is ParameterSource.COMMANDLINE
    with nullcontext() if out.file is not None or asks_for_stdout else redirect_stdout(sys.stderr):
        try:
            try:
                view = trace_view(file)
            finally:
                if place is not None:
                    place.keep()
            view.recording.file = file if place is None else place.name
            if not len(view.recording.calls):
                why = "; ".join(reason.text for reason in view.recording.stopped) or "the program made no calls"
                say_note(f"nothing was recorded: {why}")
                return False
            show_trace(view, asked, out)
        except KeyboardInterrupt:
            again = file if place is None else "--last"
            is_kept = place is None or place.not_kept is None
            say_note(f"interrupted; `dispatch-cli trace {again}` shows the calls" if is_kept else "interrupted")
            return False
        except InputError as error:
            BadInput(error, out.color).show()
        except click.ClickException as error:
            say_note(error.format_message())
        except Exception as error:  # the program has ended as it has
            say_note(f"the calls cannot be shown, which is a bug of dispatch-cli: {type(error).__name__}: {error}")
    return True
