"""``dispatch-cli keys``"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dispatch_cli.answers.resolve.command import context_option, tensor_option
from dispatch_cli.cli.completion import complete_keys, complete_universes
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.options import allow_outside_option, at_setting, privateuse1_option, project_defaults, resolved
from dispatch_cli.cli.output import BadInput, Output, output_options, say_written, show

if TYPE_CHECKING:
    from dispatch_cli.model.universe import Universe


@click.command("keys", cls=Command)
@click.argument("expression", required=False, metavar="[KEY|EXPR]", shell_complete=complete_keys)
@click.option(
    "--universe",
    metavar="NAME|PATH",
    callback=resolved,
    shell_complete=complete_universes,
    help="The set of dispatch keys: an embedded universe, or a file that has one: a universe file, a capture or a "
    "recording. Default: the newest embedded one.",
)
@click.option(
    "--against",
    metavar="NAME|PATH",
    callback=resolved,
    shell_complete=complete_universes,
    help="Show how the universe differs from this one.",
)
@privateuse1_option
@tensor_option
@context_option
@allow_outside_option
@output_options()
def command(
    expression: str | None,
    universe: str | None,
    against: str | None,
    privateuse1: str | None,
    tensors: tuple[str, ...],
    contexts: tuple[str, ...],
    allow_outside: bool,
    out: Output,
) -> None:
    """Show all dispatch keys, one key in detail, a key set, or how two universes differ.

    EXPR combines keys with - (difference), & (intersection) and | (union), in this order of precedence as in PyTorch,
    and with parentheses. It may also contain building blocks (Dense, CPUBit), the raw representation of a set as a
    number, a printed DispatchKeySet(CPU, AutogradCPU), FULL, FULL_AFTER(KEY), after_autograd, after_ADInplaceOrView,
    autogradother_backends, default_included, default_excluded, runtime(ALIAS), backends(AUTOGRAD_KEY) and
    autograd(BACKEND_KEY).

    With --tensor and --context, show the key set of a call with these tensors in these contexts; `resolve --help`
    describes them.

    With --against, the exit code is 1 when the two universes differ. Build names and source lines are not compared.
    """
    from dispatch_cli.model.problem import InputError

    if expression is not None and against is not None:
        raise click.UsageError("--against compares whole universes; do not give a key with it.")
    if (tensors or contexts) and (expression is not None or against is not None):
        raise click.UsageError(
            "--tensor and --context show the key set of a call; do not give a key or --against with them."
        )
    from dispatch_cli import api

    named = None
    try:
        wanted = [universe] if against is None else [universe, against]
        if privateuse1 is None and (project := project_defaults()) is not None:
            named = project.privateuse1
            privateuse1 = None if named is None else named.text
        chosen, *others = api.load_universes(wanted, allow_outside, privateuse1)
        if tensors or contexts:
            report, how = _keys_of_call(chosen, tensors, contexts)
        else:
            report, how = _differences(chosen, others[0]) if others else _keys(chosen, expression)
    except InputError as error:
        raise BadInput(at_setting(error, named), out.color) from None
    show(report, out, **how)
    if others and out.file is not None:
        from dispatch_cli.answers.keys.document import outcome

        say_written(out.file, outcome(report))
    if others and not report.equal:
        raise click.exceptions.Exit(1)


def _differences(universe: Universe, other: Universe) -> tuple[Any, dict[str, Any]]:
    from dispatch_cli.answers.keys.report import differences_report

    return differences_report(universe, other), {}


def _keys_of_call(
    universe: Universe, tensors: tuple[str, ...], contexts: tuple[str, ...]
) -> tuple[Any, dict[str, Any]]:
    """The keys of a call of any operator. Errors: InputError."""
    from dispatch_cli.answers.resolve.call_request import keys_of_call

    return keys_of_call(universe, tensors, contexts), {}


def _keys(universe: Universe, expression: str | None) -> tuple[Any, dict[str, Any]]:
    """The report, and what its document needs beside it."""
    if expression is None:
        from dispatch_cli.answers.keys.report import universe_report

        return universe_report(universe), {"universe": universe}
    from dispatch_cli.answers.keys.key import KeyReport, key_answer

    report = key_answer(universe, expression)
    return report, {"universe": universe} if isinstance(report, KeyReport) else {}
