"""``dispatch-cli keys``"""

from __future__ import annotations

from typing import Any

import click

from dispatch_cli.answers.resolve.command import context_option, tensor_option
from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import allow_outside_option, at_setting, privateuse1_option, project_defaults, resolved
from dispatch_cli.cli.output import Output, output_options, show


@click.command("keys", cls=Command)
@click.argument("expression", required=False, metavar="[KEY|EXPR]", shell_complete=completion("keys"))
@click.option(
    "--universe",
    metavar="NAME|PATH",
    callback=resolved,
    shell_complete=completion("universes"),
    help="The set of dispatch keys: an embedded universe, or a file that has one: a universe file, a capture or a "
    "recording. Default: the newest embedded one.",
)
@privateuse1_option
@tensor_option
@context_option
@allow_outside_option
@output_options()
def command(
    expression: str | None,
    universe: str | None,
    privateuse1: str | None,
    tensors: tuple[str, ...],
    contexts: tuple[str, ...],
    allow_outside: bool,
    out: Output,
) -> None:
    """Show all dispatch keys, one key in detail, or a key set.

    EXPR combines keys with - (difference), & (intersection) and | (union), in this order of precedence as in PyTorch,
    and with parentheses. It may also contain building blocks (Dense, CPUBit), the raw representation of a set as a
    number, a printed DispatchKeySet(CPU, AutogradCPU), FULL, FULL_AFTER(KEY), after_autograd, after_ADInplaceOrView,
    autogradother_backends, default_included, default_excluded, runtime(ALIAS), backends(AUTOGRAD_KEY) and
    autograd(BACKEND_KEY).

    With --tensor and --context, show the key set of a call with these tensors in these contexts; `resolve --help`
    describes them.
    """
    from dispatch_cli.model.problem import InputError

    if (tensors or contexts) and expression is not None:
        raise click.UsageError("--tensor and --context show the key set of a call; do not give a key with them.")
    is_call = bool(tensors or contexts)
    if out.format == "csv" and (is_call or expression is not None):
        raise click.UsageError("--format csv has a row per key, of all keys: give no key and no call with it.")
    from dispatch_cli import api

    named = None
    try:
        if privateuse1 is None and (project := project_defaults()) is not None:
            named = project.privateuse1
            privateuse1 = None if named is None else named.text
        (chosen,) = api.load_universes([universe], allow_outside, privateuse1)
        if is_call:
            from dispatch_cli.answers.resolve.call_request import keys_of_call

            show(keys_of_call(chosen, tensors, contexts), out)
        elif expression is None:
            from dispatch_cli.answers.keys.report import universe_report

            show(universe_report(chosen), out, universe=chosen)
        else:
            from dispatch_cli.answers.keys.key import KeyReport, key_answer

            report = key_answer(chosen, expression)
            how: dict[str, Any] = {"universe": chosen} if isinstance(report, KeyReport) else {}
            show(report, out, **how)
    except InputError as error:
        raise at_setting(error, named) from None
