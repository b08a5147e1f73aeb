"""``dispatch-cli explore``"""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import SourceOptions, load_state, may_have_settings, source_options, warn_of_overrides
from dispatch_cli.cli.source_reading import source_arguments

if TYPE_CHECKING:
    from types import ModuleType

    from dispatch_cli.answers.findings.checked import CheckSetup
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.engine.state import State

HOW_TO_GET = "pip install 'dispatch-cli[explore]'"
_NO_TERMINAL = ". `dispatch-cli table`, `explain` and the other commands print their answers anywhere."
_STREAMS = {"input": "the keys come from it", "output": "the screen is on it", "error": "the screen is drawn by it"}
"""The streams that have to be a terminal, and why."""


@click.command("explore", cls=Command)
@partial(source_options, what_if=False)
@click.option(
    "--trace",
    metavar="RECORDING",
    shell_complete=completion("files"),
    help="Also show the calls of a recorded program, over the state of its PyTorch; see `dispatch-cli trace --help`.",
)
def command(source: SourceOptions, trace: str | None) -> None:
    """Explore a state in the terminal: operators, tables, calls, findings, and what would change.

    Every view shows the command line that prints the same. Press ? for the keys, and q to leave.

    The colours are those of the variable TEXTUAL_THEME, such as textual-light; ansi-dark and ansi-light have the
    terminal's own.

    Without FILE and --base, the newest embedded PyTorch state is explored. With --trace, it is the state of the
    recorded program, and there is a view of its calls.
    """
    _refuse_without_terminal(source)
    app = _application()
    named = os.environ.get("TEXTUAL_THEME")
    if named and named not in app.THEMES:
        raise click.UsageError(f"TEXTUAL_THEME is {named!r}, which is none of {', '.join(app.THEMES)}.")
    arguments = source_arguments()
    view = None
    if trace is not None:
        source, view = with_recording(source, trace)
        arguments = (*arguments, "--base", *source.bases)
    elif not source.files and not source.bases:
        from dispatch_cli import bases

        base = bases.newest_for(source.universe)
        source, arguments = source._replace(bases=(base,)), (*arguments, "--base", base)
    from dispatch_cli.explore.session import Session

    state = load_state(source)
    warn_of_overrides(state)
    session = Session(state, arguments, partial(_read_again, source) if source.files else None, view)
    if may_have_settings():
        session.checks = check_setup(source)
    raise click.exceptions.Exit(app.run(session))


def with_recording(source: SourceOptions, file: str) -> tuple[SourceOptions, TraceView]:
    """Source options that load the recording of a program, and the recording. Errors: InputError, UsageError."""
    if source.bases or source.keys or source.universe:
        raise click.UsageError("--trace has a state of its own: it goes without --base, --universe and -k.")
    from dispatch_cli.answers.trace.command_run import trace_view

    view = trace_view(file)
    return source._replace(bases=(view.known.base if view.known.is_base else file,)), view


def _read_again(source: SourceOptions) -> tuple[State, CheckSetup | None]:
    """The state of files as they are now. Errors: CannotRead."""
    from dispatch_cli.explore.session import CannotRead
    from dispatch_cli.model.problem import InputError

    try:
        return load_state(source), check_setup(source) if may_have_settings() else None
    except InputError as error:
        raise CannotRead(str(error), error.problems) from None
    except click.ClickException as error:
        raise CannotRead(error.format_message()) from None


def check_setup(source: SourceOptions) -> CheckSetup:
    """The project's settings for runs of the checks, as ``check-invariants`` reads them.

    Errors: InputError.
    """
    from dispatch_cli.answers.findings.checked import CheckSetup
    from dispatch_cli.answers.findings.command_options import NO_CHECK_OPTIONS, guards_of, load_settings, read_known

    settings, project = load_settings(NO_CHECK_OPTIONS, source.allow_outside)
    guards = guards_of(project, source.allow_outside)
    baseline, _ = read_known(NO_CHECK_OPTIONS, project, source.allow_outside)
    guarded = load_state(source, guards=guards).declarations if guards else None
    return CheckSetup(settings, guarded, baseline)


def _refuse_without_terminal(source: SourceOptions) -> None:
    """Errors: UsageError, where nothing can be shown or typed."""
    if "-" in source.files:
        raise click.UsageError("explore cannot read declarations from standard input ('-'), which has the keys.")
    if os.environ.get("TERM", "") == "dumb":
        raise click.UsageError(f"explore needs a terminal that can place text; TERM is 'dumb'{_NO_TERMINAL}")
    for (name, why), stream in zip(_STREAMS.items(), (sys.stdin, sys.stdout, sys.stderr), strict=True):
        if not stream.isatty():
            is_not = f"standard {name} is not one: it is a file or a pipe, and {why}"
            raise click.UsageError(f"explore needs a terminal, and {is_not}{_NO_TERMINAL}")


def _application() -> ModuleType:
    """Errors: UsageError where textual is not there."""
    try:
        from dispatch_cli.explore import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "textual":
            raise
        raise click.UsageError(f"explore needs textual, which is not installed: {HOW_TO_GET}") from None
    return app
