"""--trace: a recording beside a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.completion import complete_files
from dispatch_cli.cli.options import SourceOptions

if TYPE_CHECKING:
    from dispatch_cli.answers.trace.view import TraceView

trace_option = click.option(
    "--trace",
    metavar="RECORDING",
    shell_complete=complete_files,
    help="Also show the calls of a recorded program, over the state of its PyTorch; see `dispatch-cli trace --help`.",
)


def with_recording(source: SourceOptions, file: str, color: str = "auto") -> tuple[SourceOptions, TraceView]:
    """Source options that load the recording of a program, and the recording. Errors: BadInput, UsageError."""
    if source.bases or source.keys or source.universe:
        raise click.UsageError("--trace has a state of its own: it goes without --base, --universe and -k.")
    from dispatch_cli.answers.trace.command_answer import trace_view

    view = trace_view(file, color)
    return source._replace(bases=(view.base if view.known.is_base else file,)), view
