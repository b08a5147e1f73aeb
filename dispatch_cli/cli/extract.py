"""``dispatch-cli extract``"""

from __future__ import annotations

import click

from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.options import allow_outside_option
from dispatch_cli.cli.output import Output, output_options, warn, write
from dispatch_cli.cli.source_reading import ReadingOptions, is_understood, read_sources, reading_options


@click.command("extract")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=complete_files)
@reading_options
@allow_outside_option
@output_options(only=("yaml", "json"))
def command(paths: tuple[str, ...], reading: ReadingOptions, allow_outside: bool, out: Output) -> None:
    """Write what sources register as declarations.

    PATHs are C++, CUDA, Objective-C++ and Python sources, torchgen's YAML files, and directories of them. Nothing in
    them is executed or imported. Standard error has a summary: what was read, found, not understood and left out.

    The other commands take sources and directories directly.
    """
    run = read_sources(paths, reading, None, allow_outside, out.color)
    from dispatch_cli.capture.write import json_text, yaml_text
    from dispatch_cli.cli.source_summary import summary

    write((json_text if out.format == "json" else yaml_text)(run.document), out.file, kind="data")
    warn(summary(run), out.color)
    raise click.exceptions.Exit(1 if reading.strict and not is_understood(run) else 0)
