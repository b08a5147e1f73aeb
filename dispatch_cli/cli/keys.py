"""``dispatch-cli keys``"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.completion import complete_keys
from dispatch_cli.cli.options import output_options, refuse, style_for, write

if TYPE_CHECKING:
    from dispatch_cli.model.universe import Universe
    from dispatch_cli.render.style import Style
    from dispatch_cli.report.key import KeyReport
    from dispatch_cli.report.key_set import KeySetReport
    from dispatch_cli.report.keys import UniverseReport
    from dispatch_cli.report.universe_differences import DifferencesReport


@click.command("keys")
@click.argument("expression", required=False, metavar="[KEY|EXPR]", shell_complete=complete_keys)
@click.option("--universe", metavar="NAME|PATH", help="Key layout; by default the newest that is embedded.")
@click.option("--against", metavar="NAME|PATH", help="Show in what the universe differs from this one.")
@output_options(("text", "json", "csv", "markdown"))
def command(
    expression: str | None, universe: str | None, against: str | None, format_: str, output: str | None, color: str
) -> None:
    """Show the dispatch keys: a universe at a glance, one key in depth, or what a key-set expression comes to.

    An expression joins keys by - (without), & (and) and | (or), which bind in this order as in PyTorch, and by
    brackets. It may name building blocks (Dense, CPUBit), a number that is a set's raw representation, a printed
    DispatchKeySet(CPU, AutogradCPU), FULL, FULL_AFTER(KEY), after_autograd, after_ADInplaceOrView,
    autogradother_backends, default_included, default_excluded, runtime(ALIAS), backends(AUTOGRAD_KEY) and
    autograd(BACKEND_KEY).

    With --against the exit code is 1 when the two universes differ. Names of builds and source lines do not count.
    """
    from dispatch_cli.model.problem import InputError

    if expression is not None and against is not None:
        raise click.UsageError("--against holds whole universes against each other; give no key with it.")
    style = style_for(sys.stdout, color, output)
    try:
        text, differ = _answer(expression, universe, against, format_, style)
    except InputError as error:
        raise refuse(error, color) from None
    write(text, output)
    if differ:
        raise click.exceptions.Exit(1)


def _answer(
    expression: str | None, universe: str | None, against: str | None, format_: str, style: Style
) -> tuple[Iterator[str], bool]:
    """The text, and whether universes that were compared differ."""
    from dispatch_cli import api

    chosen, *others = api.load_universes([universe] if against is None else [universe, against])
    if others:
        from dispatch_cli.report.universe_differences import differences_report

        differences = differences_report(chosen, others[0])
        return _differences(differences, format_, style), not differences.equal
    if expression is None:
        from dispatch_cli.report.keys import universe_report

        return _universe(universe_report(chosen), format_, style), False
    return _key_or_set(chosen, expression.strip(), format_, style), False


def _key_or_set(universe: Universe, text: str, format_: str, style: Style) -> Iterator[str]:
    from dispatch_cli.report.key import is_key, key_report

    if is_key(universe, text):
        return _key(key_report(universe, text), format_, style)
    from dispatch_cli.engine.keys.expression import evaluate
    from dispatch_cli.report.key_set import key_set_report

    return _key_set(key_set_report(evaluate(universe, text)), format_, style)


def _universe(report: UniverseReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.keys import keys_text

        return keys_text(report, style)
    from dispatch_cli.render.keys_machine import universe_json, universe_sheet
    from dispatch_cli.render.machine import csv_text, markdown_text

    if format_ == "json":
        return universe_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(universe_sheet(report))


def _key(report: KeyReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.key import key_text

        return key_text(report, style)
    from dispatch_cli.render.keys_machine import key_json, key_sheet
    from dispatch_cli.render.machine import csv_text, markdown_text

    if format_ == "json":
        return key_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(key_sheet(report))


def _key_set(report: KeySetReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.key_set import key_set_text

        return key_set_text(report, style)
    from dispatch_cli.render.keys_machine import key_set_json, key_set_sheet
    from dispatch_cli.render.machine import csv_text, markdown_text

    if format_ == "json":
        return key_set_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(key_set_sheet(report))


def _differences(report: DifferencesReport, format_: str, style: Style) -> Iterator[str]:
    if format_ == "text":
        from dispatch_cli.render.universe_differences import differences_text

        return differences_text(report, style)
    from dispatch_cli.render.keys_machine import differences_json, differences_sheet
    from dispatch_cli.render.machine import csv_text, markdown_text

    if format_ == "json":
        return differences_json(report)
    return (csv_text if format_ == "csv" else markdown_text)(differences_sheet(report))
