"""``dispatch-cli extract``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from dispatch_cli.answers.findings.command_options import config_options, refuse_two_configs
from dispatch_cli.answers.findings.crossref.against_command import against_options, show_against
from dispatch_cli.answers.findings.crossref.command_options import Asked
from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.options import allow_outside_option
from dispatch_cli.cli.output import FORMATS, BadInput, Output, output_options, warn, write
from dispatch_cli.cli.revisions import opened
from dispatch_cli.cli.source_options import STRICT, ReadingOptions, reading_options
from dispatch_cli.cli.source_reading import is_understood, read_sources, say_notes

if TYPE_CHECKING:
    from dispatch_cli.extract.run import SourceRun
    from dispatch_cli.model.source_settings import SourceSettings


@click.command("extract")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@reading_options
@against_options
@config_options
@allow_outside_option
@output_options(only=("yaml", *sorted(FORMATS)))
def command(
    paths: tuple[str, ...],
    reading: ReadingOptions,
    against: str | None,
    python: str | None,
    modules: tuple[str, ...],
    timeout: int,
    config: str | None,
    no_config: bool,
    allow_outside: bool,
    out: Output,
) -> None:
    """Write what sources register as declarations.

    PATHs are C++, CUDA, Objective-C++ and Python sources, torchgen's YAML files, and directories of them. Nothing in
    them is executed or imported. Standard error has a summary: what was read, found, not understood and left out.

    With --against, the answer is a comparison: which definitions, kernels and backend fallbacks the sources have and
    the state lacks, and the other way round. What the sources have under a condition only, and the state lacks, is
    listed and does not count.

    The other commands take sources and directories directly.
    """
    if against is None and (python is not None or modules):
        raise click.UsageError("--python and --import need --against live.")
    out = out._replace(format=_format(out.format, against is not None))
    paths = opened(paths, out.color)
    run = read_sources(paths, reading, _settings(config, no_config, allow_outside, out.color), allow_outside, out.color)
    if against is not None:
        _compare(run, paths[0], against, Asked(python, modules, timeout), reading.strict, allow_outside, out)
    from dispatch_cli.capture.write import json_text, yaml_text
    from dispatch_cli.cli.source_summary import summary

    write((json_text if out.format == "json" else yaml_text)(run.document), out.file, kind="data")
    warn(summary(run), out.color)
    raise click.exceptions.Exit(1 if reading.strict and not is_understood(run) else 0)


def _settings(config: str | None, no_config: bool, allow_outside: bool, color: str) -> SourceSettings | None:
    """The settings of the project file that the options choose; None for the nearest one. Errors: BadInput."""
    from pathlib import Path

    from dispatch_cli.declarations.project import read_source_settings
    from dispatch_cli.model.problem import InputError
    from dispatch_cli.model.source_settings import NO_SOURCE_SETTINGS

    refuse_two_configs(config, no_config)
    if config is None:
        return NO_SOURCE_SETTINGS if no_config else None
    try:
        return read_source_settings(Path(config), allow_outside)
    except InputError as error:
        raise BadInput(error, color) from None


def _format(asked: str, is_comparison: bool) -> str:
    """The format of the answer: declarations are YAML or JSON, and a comparison is a report."""
    is_default = click.get_current_context().get_parameter_source("format_") is ParameterSource.DEFAULT
    if is_comparison and asked == "yaml":
        if not is_default:
            raise click.UsageError("--format yaml writes declarations; --against writes a comparison.")
        return "text"
    if not is_comparison and asked not in ("yaml", "json"):
        raise click.UsageError(f"--format {asked} needs --against; declarations are written as yaml or json.")
    return asked


def _compare(
    run: SourceRun, name: str, against: str, asked: Asked, strict: bool, allow_outside: bool, out: Output
) -> None:
    """Show the sources beside a state, and exit."""
    from dispatch_cli.declarations.extracted import ExtractedDocument

    say_notes(run)
    if strict and not is_understood(run):
        click.get_current_context().meta[STRICT] = True
    show_against(ExtractedDocument(name, run.document, run.lines), against, asked, allow_outside, out)
