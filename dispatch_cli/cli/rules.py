"""``dispatch-cli rules``"""

from __future__ import annotations

import click

from dispatch_cli.cli.output import Output, output_options, show

_NUMBER = click.IntRange(1, 10)


@click.command("rules")
@click.argument("numbers", nargs=-1, metavar="[N]...")
@output_options()
@click.pass_context
def command(context: click.Context, numbers: tuple[str, ...], out: Output) -> None:
    """List the ten rules of the computed table, or show some with examples.

    Every answer names the rule that fills a slot by its number N. The examples are answered at the time of asking.
    """
    from dispatch_cli.api import load_universes
    from dispatch_cli.report.rules import rules_report

    # Read here, not by click before the command runs: -o gets what is wrong with them.
    argument = next(one for one in context.command.params if one.name == "numbers")
    wanted = tuple(_NUMBER(one, argument, context) for one in numbers)
    (universe,) = load_universes([None])
    show(rules_report(universe, wanted), out, whole=bool(wanted))
