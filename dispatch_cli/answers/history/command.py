"""``dispatch-cli history``"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.help import Command
from dispatch_cli.cli.modules import completion
from dispatch_cli.cli.options import as_sentence
from dispatch_cli.cli.output import Output, output_options, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dispatch_cli.answers.history.changes import Versions
    from dispatch_cli.model.universe import Universe


@click.command("history", cls=Command)
@click.argument("operator", metavar="OP", shell_complete=completion("history"))
@click.argument("key", metavar="[KEY]", required=False, shell_complete=completion("history"))
@output_options("svg")
def command(operator: str, key: str | None, out: Output) -> None:
    """Show an operator over the embedded PyTorch versions: what changed, and in which version.

    OP is an operator; of a name with several overloads, and of a glob such as 'aten::_flash*', each operator has one
    line. KEY is a runtime key, an alias key or a functionality: show only what the operator has there, and since when.
    `dispatch-cli diff A B --op NAME` compares higher-order operators.

    The exit code is 0 also where something changed.
    """
    from dispatch_cli import bases
    from dispatch_cli.answers.history.changes import Versions
    from dispatch_cli.answers.history.report import history_report

    versions = Versions([*reversed(bases.names())])
    chosen = _chosen(versions, operator)
    named = None if key is None else _key(versions, key)
    show(history_report(versions, chosen, named), out)


def _chosen(versions: Versions, text: str) -> Sequence[str]:
    """The operators that a name or a glob means; exits with 2 when no version has one."""
    from dispatch_cli.answers.shared.selection import select_higher_order, select_names, similar_names
    from dispatch_cli.model.names import OperatorName
    from dispatch_cli.model.text.suggest import did_you_mean

    exact = () if any(sign in text for sign in "*?[") else (text, str(OperatorName.parse_printed(text)))
    name = next((name for name in exact if any(versions.with_operator(name))), None)
    if chosen := select_names(versions.operators(), text) if name is None else [name]:
        return chosen
    hint = did_you_mean(similar_names(versions.operators(), text[:200]))
    if select_higher_order([operator.name for operator in versions.base(-1).higher_order_operators], text):
        hint = "it is a higher-order one, which `dispatch-cli diff A B --op NAME` compares"
    message = f"no embedded version has an operator {text[:200]!r}.{as_sentence(hint)}"
    raise click.BadParameter(message, param_hint="'OP'")


def _key(versions: Versions, text: str) -> str:
    """The key that is meant, by the newest version that has it; exits with 2 when none has."""
    universes = [versions.base(number).universe for number in reversed(range(len(versions.names)))]
    for universe in universes:
        key = universe.key_named(text)
        if key in _keys((universe,)):
            return key
    from dispatch_cli.model.text.suggest import KEYS_LISTED, suggestion

    close = suggestion(text, _keys(universes), 3)
    hint = as_sentence(close or KEYS_LISTED)
    raise click.BadParameter(f"no embedded version has a dispatch key {text[:200]!r}.{hint}", param_hint="'KEY'")


def _keys(universes: Iterable[Universe]) -> list[str]:
    listed = (key for known in universes for keys in (known.slots, known.aliases, known.per_backend) for key in keys)
    return [*dict.fromkeys(listed)]
