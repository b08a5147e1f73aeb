"""``dispatch-cli page``"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.command_options import (
    NO_CHECK_OPTIONS,
    guards_of,
    load_settings,
    read_known,
    refuse_unknown_checks,
    refused_baseline,
)
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import SourceOptions, load_state, source_options, warn_of_overrides
from dispatch_cli.cli.output import Output, output_options, refuse_input, say_written, write
from dispatch_cli.cli.source_options import source_arguments

if TYPE_CHECKING:
    from dispatch_cli.answers.findings.report import FindingsReport
    from dispatch_cli.engine.history.state import State

_NOT_OF_SOURCE = ("source_url", "format_", "output", "color", "help")


@click.command("page", cls=Command)
@source_options
@click.option(
    "--source-url",
    metavar="URL",
    help="Link places in files to this repository, such as https://github.com/OWNER/NAME; by default, the one that "
    "[project.urls] in pyproject.toml names.",
)
@output_options(only=("html",))
def command(source: SourceOptions, source_url: str | None, out: Output) -> None:
    """Write a whole state as one page of HTML that a browser opens from disk, such as dispatch.html.

    The page has every operator with its table, each slot explained, the registrations, the findings of
    check-invariants, the coverage of every backend, what the files change, and the keys. It needs neither a network nor
    a server. It has the names of the files that it was made from, and none of the folders above them.

    Without FILE, --base and -k, the newest embedded PyTorch state is used.
    """
    if out.file is None and sys.stdout.isatty():
        raise click.UsageError("A page is for a browser; give a file to write, such as -o dispatch.html.")
    from dispatch_cli.cli.output import progress_on
    from dispatch_cli.cli.page_source import files_read, project_url, repository_url
    from dispatch_cli.model import read_files
    from dispatch_cli.page.data import PageSource, page_data
    from dispatch_cli.page.write import html
    from dispatch_cli.render.words import plural

    arguments = tuple(source_arguments(click.get_current_context(), _NOT_OF_SOURCE))
    if out.file is None:
        read_files.start()
    url = project_url() if source.files and source_url is None else repository_url(source_url or "")
    if source_url is not None and url is None:
        raise click.UsageError(
            f"--source-url {source_url!r} is no address of a repository. Write it as https://github.com/OWNER/NAME."
        )
    if not source.files and not source.keys and not source.bases:
        from dispatch_cli import bases

        base = bases.newest_for(source.universe)
        source, arguments = source._replace(bases=(base,)), (*arguments, "--base", base)
    state, findings = _checked(source, out)
    warn_of_overrides(state, out.color)
    files, more = files_read("-" in source.files)
    folders = _folders((*arguments, *source.reading.include))
    arguments = tuple(_without(folders, argument) for argument in arguments)
    names = tuple(map(_name_of, source.files, arguments))
    with progress_on(sys.stderr, str) as progress:
        page = page_data(
            state, findings, PageSource(arguments, files, more, len(source.files), names, url), progress or str
        )
        chunks = [*html(page, folders)]
    write(chunks, out.file, kind="data")
    if out.file is not None:
        size = sum(map(len, chunks)) / 1_000_000
        say_written(out.file, f"{plural(len(state.dispatcher), 'operator')}, {size:.1f} MB")


def _checked(source: SourceOptions, out: Output) -> tuple[State, FindingsReport]:
    """The state, and what check-invariants finds in it.

    Errors: CannotWrite where the page would take the place of a file of the state; BadInput, InputError.
    """
    from dispatch_cli.answers.findings.baseline.report import BaselineError, BaselineFilter
    from dispatch_cli.answers.findings.checked import checked_operators
    from dispatch_cli.answers.findings.report import findings_report
    from dispatch_cli.api import further_states
    from dispatch_cli.checks.listing import Limits

    settings, project = load_settings(NO_CHECK_OPTIONS, source.allow_outside)
    guards = () if source.keys else guards_of(project, source.allow_outside)
    source = source._replace(project=project)
    state = load_state(source, out.color, guards)
    if out.file is not None:
        refuse_input(out.file)  # before the work
    refuse_unknown_checks(state, settings)
    names, higher_order = checked_operators(state, bool(source.files))
    entries, baseline = read_known(NO_CHECK_OPTIONS, project, source.allow_outside)
    try:
        findings = findings_report(
            *(state, names, None, settings, None if entries is None else BaselineFilter(entries)),
            higher_order=higher_order,
            limits=Limits(),
            further=further_states(state),
        )
    except BaselineError as error:
        raise refused_baseline(NO_CHECK_OPTIONS, project, f"{baseline}: {error}") from None
    return state, findings


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
