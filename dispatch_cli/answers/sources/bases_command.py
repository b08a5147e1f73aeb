"""``dispatch-cli bases``"""

from __future__ import annotations

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.output import Output, output_options, show


@click.command("bases", cls=Command)
@output_options()
def command(out: Output) -> None:
    """List the embedded PyTorch states, which --base and `extends` can name."""
    from dispatch_cli.answers.sources.bases import bases_report

    show(bases_report(), out)
