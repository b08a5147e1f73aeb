"""Arguments of ``explain`` for a higher-order operator: the operator, and the place in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import as_sentence

if TYPE_CHECKING:
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator, ImplPlace


def place_named(state: State, operator: HigherOrderOperator, text: str) -> ImplPlace:
    """The place that a text names; exits with 2 when there is none. See `higher_order_place.place_named`."""
    from dispatch_cli.answers.table.higher_order import place as higher_order_place

    try:
        return higher_order_place.place_named(state, operator, text)
    except higher_order_place.NoPlace as error:
        raise click.BadParameter(f"{error}{as_sentence(error.hint)}{error.advice}", param_hint="'KEY'") from None
