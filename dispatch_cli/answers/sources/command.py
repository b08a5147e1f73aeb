"""``dispatch-cli bases``, ``extract``, ``capture`` and ``schema``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dispatch_cli.answers.findings.command_options import config_option
from dispatch_cli.answers.findings.crossref.command_options import check_modules, live_options, patience, say_asking
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import allow_outside_option, opened
from dispatch_cli.cli.output import (
    Output,
    output_option,
    output_options,
    refuse_unwritable,
    say,
    say_written,
    show,
    warn,
    write,
)
from dispatch_cli.cli.source_reading import (
    NO_CONFIG,
    ReadingOptions,
    is_understood,
    read_sources,
    reading_options,
    strict_option,
)

if TYPE_CHECKING:
    from dispatch_cli.capture.write import Format
    from dispatch_cli.model.sources.source_settings import SourceSettings


@click.command("bases", cls=Command)
@output_options()
def bases_command(out: Output) -> None:
    """List the embedded PyTorch states, which --base and `extends` can name."""
    from dispatch_cli.answers.sources.bases import bases_report

    show(bases_report(), out)


@click.command("extract", cls=Command)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", shell_complete=completion("files"))
@strict_option
@config_option
@allow_outside_option
@reading_options
@output_options(only=("yaml", "json"))
def extract_command(
    paths: tuple[str, ...], strict: bool, config: str | None, allow_outside: bool, reading: ReadingOptions, out: Output
) -> None:
    """Write what sources register as declarations.

    PATHs are C++, CUDA, Objective-C++ and Python sources, torchgen's YAML files, and directories of them. Nothing in
    them is executed or imported. Standard error has a summary: what was read, found, not understood and left out.

    The other commands take sources and directories directly. `crossref` compares what sources register with a state or
    a built library.
    """
    from dispatch_cli.capture.write import json_text, yaml_text
    from dispatch_cli.cli.source_summary import summary

    paths = opened(paths)
    run = read_sources(paths, reading, _settings(config, allow_outside), allow_outside)
    write((json_text if out.format == "json" else yaml_text)(run.document), out.file, kind="data")
    warn(summary(run), out.color)
    raise click.exceptions.Exit(1 if strict and not is_understood(run) else 0)


def _settings(config: str | None, allow_outside: bool) -> SourceSettings | None:
    """The settings of the project file that --config names; None for the nearest one. Errors: InputError."""
    from pathlib import Path

    from dispatch_cli.declarations.project_settings import read_project
    from dispatch_cli.model.sources.source_settings import NO_SOURCE_SETTINGS

    if config is None or config == NO_CONFIG:
        return None if config is None else NO_SOURCE_SETTINGS
    return read_project(Path(config), allow_outside, only=("extract",)).extract


@click.command("capture", cls=Command)
@live_options
@output_option("-o", "--output")
@click.option("--format", "format_", type=click.Choice(("yaml", "json")))
def capture_command(python: str | None, modules: tuple[str, ...], output: str | None, format_: str | None) -> None:
    """Write the dispatcher state of an installed PyTorch as declarations.

    The running PyTorch is asked for its dispatch keys, backend fallbacks, all operators and their kernels, Python
    kernels and higher-order operators. The name of FILE ends in .yaml, .yml, .json or .json.gz. A vmap runs first:
    PyTorch registers some kernels at FuncTorchBatched only then. Loading the file gives the same state, with or
    without PyTorch. dispatch-cli need not be installed in the Python that has PyTorch. A PyTorch that has not
    answered after 600 seconds, or the seconds in the variable DISPATCH_CLI_TIMEOUT, is given up.
    """
    file_format = _file_format(output, format_)
    check_modules(modules)
    seconds = patience()
    from dispatch_cli.capture.run import run_probe

    say_asking()
    state = run_probe(python, modules, seconds=seconds)
    for skipped in state["skipped"]:
        say(f"warning: the operator {skipped['name']!a} cannot be interpreted and is left out\n")
    from dispatch_cli.capture.write import Format, state_text

    as_json = format_ == "json" if file_format is None else file_format is not Format.YAML
    write(state_text(state, as_json), output, compressed=file_format is Format.JSON_GZ, kind="data")
    if output is not None:
        from dispatch_cli.render.words import plural

        say_written(output, f"PyTorch {state['torch']}, {plural(len(state['operators']), 'operator')}")


def _file_format(output: str | None, format_: str | None) -> Format | None:
    """Format that the file's name asks for. Looked at first: a capture takes seconds, and then it would be too late."""
    if output is None:
        return None
    from dispatch_cli.capture.write import Format

    file_format = Format.of(output)
    if file_format is None:
        endings = ", ".join(each.value for each in Format)
        raise click.BadParameter(f"{output!r} must end in one of {endings}, .yml", param_hint="'-o'")
    if format_ is not None and (format_ == "yaml") != (file_format is Format.YAML):
        raise click.UsageError(f"--format {format_} contradicts the name of {output}.")
    refuse_unwritable(output)
    return file_format


@click.command("schema", cls=Command)
@click.argument("report", metavar="[REPORT]", required=False, shell_complete=completion("reports"))
@output_option("-o", "file")
def schema_command(report: str | None, file: str | None) -> None:
    """Print the JSON Schema of the declaration format, for completion and validation in editors.

    With REPORT, such as table or findings, print the schema of what a command writes with --format json. The field
    "report" of such an answer names its REPORT.
    """
    import json

    from dispatch_cli.declarations.formats.json_schema import json_schema

    schema = json_schema() if report is None else _of_report(report)
    write([json.dumps(schema, indent=2) + "\n"], file, kind="data")


def _of_report(name: str) -> dict[str, Any]:
    from dispatch_cli.cli.report_schemas import report_schema, report_types
    from dispatch_cli.model.text.suggest import suggestion

    types = report_types()
    if name not in types:
        hint = suggestion(name, types) or f"the reports are {', '.join(types)}"
        raise click.BadParameter(f"there is no report {name[:200]!r}; {hint}", param_hint="'REPORT'")
    return report_schema(types[name])
