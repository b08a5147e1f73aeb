"""``dispatch-cli rules``"""

from __future__ import annotations

import click

from dispatch_cli.cli.completion import complete_rules
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.output import Output, output_options, show


@click.command("rules", cls=Command)
@click.argument("numbers", nargs=-1, type=click.IntRange(1, 10), metavar="[N]...", shell_complete=complete_rules)
@output_options()
def command(numbers: tuple[int, ...], out: Output) -> None:
    """List the ten rules of a dispatch table, or explain some with examples.

    Every answer names the rule that fills a slot by its number N. The examples are computed when you ask for them.
    """
    from dispatch_cli.answers.explain.rules.report import rules_report
    from dispatch_cli.api import load_universes

    (universe,) = load_universes([None])
    show(rules_report(universe, numbers), out, whole=bool(numbers))
