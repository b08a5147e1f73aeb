"""``dispatch-cli extract``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.command_options import config_option
from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import allow_outside_option, opened
from dispatch_cli.cli.output import BadInput, output_options, warn, write
from dispatch_cli.cli.source_options import NO_CONFIG, ReadingOptions, reading_options, strict_option
from dispatch_cli.cli.source_reading import is_understood, read_sources

if TYPE_CHECKING:
    from dispatch_cli.cli.output import Output
    from dispatch_cli.model.source_settings import SourceSettings


@click.command("extract", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@strict_option
@config_option
@allow_outside_option
@reading_options
@output_options(only=("yaml", "json"))
def command(
    paths: tuple[str, ...],
    strict: bool,
    config: str | None,
    allow_outside: bool,
    reading: ReadingOptions,
    out: Output,
) -> None:
    """Write what sources register as declarations.

    PATHs are C++, CUDA, Objective-C++ and Python sources, torchgen's YAML files, and directories of them. Nothing in
    them is executed or imported. Standard error has a summary: what was read, found, not understood and left out.

    The other commands take sources and directories directly. `crossref` compares what sources register with a state or
    a built library.
    """
    from dispatch_cli.capture.write import json_text, yaml_text
    from dispatch_cli.cli.source_summary import summary

    paths = opened(paths, out.color)
    run = read_sources(paths, reading, _settings(config, allow_outside, out.color), allow_outside, out.color)
    write((json_text if out.format == "json" else yaml_text)(run.document), out.file, kind="data")
    warn(summary(run), out.color)
    raise click.exceptions.Exit(1 if strict and not is_understood(run) else 0)


def _settings(config: str | None, allow_outside: bool, color: str) -> SourceSettings | None:
    """The settings of the project file that --config names; None for the nearest one. Errors: BadInput."""
    from pathlib import Path

    from dispatch_cli.declarations.project_settings import read_source_settings
    from dispatch_cli.model.problem import InputError
    from dispatch_cli.model.source_settings import NO_SOURCE_SETTINGS

    if config is None or config == NO_CONFIG:
        return None if config is None else NO_SOURCE_SETTINGS
    try:
        return read_source_settings(Path(config), allow_outside)
    except InputError as error:
        raise BadInput(error, color) from None
