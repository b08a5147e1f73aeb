"""``dispatch-cli capture``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.answers.findings.crossref.command_options import ask_live, check_modules, live_options, patience
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.output import output_option, refuse_unwritable, say, write

if TYPE_CHECKING:
    from dispatch_cli.capture.write import Format


@click.command("capture", cls=Command)
@live_options
@output_option("-o", "--output")
@click.option(
    "--format",
    "format_",
    type=click.Choice(("yaml", "json")),
)
def command(python: str | None, modules: tuple[str, ...], output: str | None, format_: str | None) -> None:
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

    state = ask_live(lambda progress: run_probe(python, modules, progress, seconds=seconds))
    for skipped in state["skipped"]:
        say(f"warning: the operator {skipped['name']!a} cannot be interpreted and is left out\n")
    from dispatch_cli.capture.write import Format, state_text

    as_json = format_ == "json" if file_format is None else file_format is not Format.YAML
    write(state_text(state, as_json), output, compressed=file_format is Format.JSON_GZ, kind="data")


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
