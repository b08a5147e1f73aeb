"""``dispatch-cli page``"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.baseline.command_options import read_known, refused_baseline
from dispatch_cli.answers.findings.command_options import (
    NO_CHECK_OPTIONS,
    CheckOptions,
    guards_of,
    load_settings,
    refuse_unknown_checks,
)
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import SourceOptions, load_state, source_options, warn_of_overrides
from dispatch_cli.cli.output import BadInput, Output, output_options, refuse_input, say_written, write
from dispatch_cli.cli.recorded import trace_option, with_recording
from dispatch_cli.cli.source_arguments import source_arguments

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.answers.trace.view import TraceView
    from dispatch_cli.engine.history.state import State

_NOT_OF_SOURCE = ("trace", "source_url", "format_", "output", "color", "help")


@click.command("page", cls=Command)
@source_options
@trace_option
@click.option(
    "--source-url",
    metavar="URL",
    help="Link places in files to this repository, such as https://github.com/OWNER/NAME; by default, the one that "
    "[project.urls] in pyproject.toml names.",
)
@output_options(only=("html",))
def command(source: SourceOptions, trace: str | None, source_url: str | None, out: Output) -> None:
    """Write a whole state as one page of HTML that a browser opens from disk, such as dispatch.html.

    The page has every operator with its table, each slot explained, the registrations, the findings of
    check-invariants, the coverage of every backend, what the files change, and the keys. It needs neither a network nor
    a server. It has the names of the files that it was made from, and none of the folders above them.

    Without FILE, --base and -k, the newest embedded PyTorch state is used. With --trace, it is the state of the
    recorded program, and the page has its calls.
    """
    if out.file is None and sys.stdout.isatty():
        raise click.UsageError("A page is for a browser; give a file to write, such as -o dispatch.html.")
    from dispatch_cli.model import read_files

    arguments = tuple(source_arguments(click.get_current_context(), _NOT_OF_SOURCE))
    if out.file is None:
        read_files.start()
    url = _url_of(source_url, bool(source.files))
    view = None
    if trace is not None:
        source, view = with_recording(source, trace, out.color)
        arguments = (*arguments, "--base", *source.bases)
    elif not source.files and not source.keys and not source.bases:
        from dispatch_cli import bases

        base = bases.newest_for(source.universe)
        source, arguments = source._replace(bases=(base,)), (*arguments, "--base", base)
    chunks, operators = _page(source, arguments, out, url, None if trace is None or view is None else (view, trace))
    write(chunks, out.file, kind="data")
    if out.file is not None:
        from dispatch_cli.render.words import plural

        say_written(out.file, f"{plural(operators, 'operator')}, {_megabytes(sum(map(len, chunks)))}")


def _page(
    source: SourceOptions,
    arguments: tuple[str, ...],
    out: Output,
    url: str | None = None,
    trace: tuple[TraceView, str] | None = None,
) -> tuple[list[str], int]:
    """A page, and how many operators it has. trace: the recording, and its name."""
    state, findings, settings = _checked(source, out, NO_CHECK_OPTIONS)
    warn_of_overrides(state, out.color)
    from dispatch_cli.cli.page_files import files_read
    from dispatch_cli.files.paths import as_argument
    from dispatch_cli.page.data import PageSource, PageTrace, page_data
    from dispatch_cli.page.write import html

    files, more = files_read("-" in source.files, settings)
    folders = _folders((*arguments, *source.reading.include, *([trace[1]] if trace else [])))
    arguments = tuple(_without(folders, argument) for argument in arguments)
    shown = None if trace is None else PageTrace(trace[0], _without(folders, as_argument(trace[1])))
    names = tuple(map(_name_of, source.files, arguments))
    named = PageSource(arguments, files, more, len(source.files), names, url)
    return [*html(page_data(state, findings, named, shown), folders)], len(state.dispatcher)


def _megabytes(size: int) -> str:
    return f"{size / 1_000_000:.1f} MB"


def _checked(source: SourceOptions, out: Output, options: CheckOptions) -> tuple[State, FindingsReport, frozenset[str]]:
    """The state, what check-invariants finds in it with the options, and the files with settings for that.

    Errors: CannotWrite where the page would take the place of a file of the state; BadInput.
    """
    from dispatch_cli.answers.findings.baseline.report import BaselineError, BaselineFilter
    from dispatch_cli.answers.findings.checked import checked_operators
    from dispatch_cli.answers.findings.report import findings_report
    from dispatch_cli.api import further_states
    from dispatch_cli.checks.listing import Limits
    from dispatch_cli.model.problem import InputError

    color = out.color
    try:
        settings, project = load_settings(options, source.allow_outside)
        guards = () if source.keys else guards_of(project, source.allow_outside, color)
        source = source._replace(project=project)
        state = load_state(source, color, guards)
        if out.file is not None:
            refuse_input(out.file)  # before the work
        refuse_unknown_checks(state, settings, color)
        names, higher_order = checked_operators(state, bool(source.files))
        entries, baseline = read_known(options, project, color, source.allow_outside)
        findings = findings_report(
            *(state, names, None, settings, None if entries is None else BaselineFilter(entries)),
            higher_order=higher_order,
            limits=Limits(),
            further=further_states(state),
        )
        return state, findings, frozenset(guards if baseline is None else (*guards, baseline))
    except BaselineError as error:
        raise refused_baseline(options, project, color, f"{baseline}: {error}") from None
    except InputError as error:
        raise BadInput(error, color) from None


def _url_of(named: str | None, has_files: bool) -> str | None:
    """Address of the repository of the files: as named, or as the project says. Errors: UsageError."""
    from dispatch_cli.cli.source_url import checked_url, project_url

    if named is None:
        return project_url() if has_files else None
    try:
        return checked_url(named)
    except ValueError as why:
        raise click.UsageError(
            f"--source-url {named!r} is no address of a repository: {why}. Write it as https://github.com/OWNER/NAME."
        ) from None


def _name_of(file: str, named: str) -> str:
    """Name of a file, as in commands; of a folder its own name, such as the one that ``.`` is."""
    return os.path.basename(os.path.realpath(file)) if os.path.isdir(file) else named  # noqa: PTH112, PTH119


def _folders(named: tuple[str, ...]) -> tuple[str, ...]:
    """The folders above what was named, which the page does not have."""
    folders = {os.path.dirname(os.path.normpath(path)) for path in named if os.path.isabs(path)}  # noqa: PTH117, PTH120
    return tuple(sorted({os.getcwd(), *folders} - {"/", ""}, key=len, reverse=True))  # noqa: PTH109


def _without(folders: tuple[str, ...], argument: str) -> str:
    """An argument without the folder above it; what is left of a file's name does not become an option."""
    for folder in folders:
        if argument.startswith(f"{folder}/"):
            rest = argument.removeprefix(f"{folder}/")
            return f"./{rest}" if rest.startswith("-") else rest
    return argument
