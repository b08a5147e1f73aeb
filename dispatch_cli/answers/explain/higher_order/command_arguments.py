"""What ``explain`` is asked about a higher-order operator: which operator, and at which place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import SourceOptions, as_sentence, state_or_newest

if TYPE_CHECKING:
    from dispatch_cli.answers.explain.higher_order.report import ExplainHigherOrderReport
    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator, ImplPlace
    from dispatch_cli.report.error_text import ErrorText


def place_named(state: State, operator: HigherOrderOperator, text: str) -> ImplPlace:
    """The place that a text names; exits with 2 when there is none. See `higher_order_place.place_named`."""
    from dispatch_cli.answers.table.higher_order import place as higher_order_place

    try:
        return higher_order_place.place_named(state, operator, text)
    except higher_order_place.NoPlace as error:
        raise click.BadParameter(f"{error}{as_sentence(error.hint)}{error.advice}", param_hint="'KEY'") from None


def from_error(
    state: State, source: SourceOptions, assumed: bool, file: str, errors: list[ErrorText]
) -> ExplainHigherOrderReport:
    """The place that the first error is about, explained. The operator need not be declared."""
    from dataclasses import replace

    from dispatch_cli.answers.explain.higher_order.report import HigherOrderErrorSource, explain_higher_order
    from dispatch_cli.model.higher_order import ImplKind
    from dispatch_cli.report.higher_order_error import assumed_operator, place_of
    from dispatch_cli.report.other_errors import is_read_by_author, other_errors

    first = errors[0]
    name = first.operator or ""
    operator = state.higher_order_operator(name)
    if operator is None and not state.declarations.bases:
        newest, is_newest = state_or_newest(source._replace(files=(), keys=(), universe=None), "never")
        operator = newest.higher_order_operator(name)
        if operator is not None:  # PyTorch's own, which the files do not declare
            state, assumed = newest, is_newest
    universe, place = state.dispatcher.universe, place_of(first)
    if place.kind is ImplKind.DISPATCH and place.name not in universe.slot:
        message = f"the text names the key {place.name[:200]!r}, which {universe.name} does not have"
        raise click.BadParameter(f"{message}; the text may be truncated there.", param_hint="'--from-error'")
    said = HigherOrderErrorSource(
        file=file,
        line=first.line,
        kind=first.kind,
        declared=operator is not None,
        others=other_errors(errors),
        by_author=is_read_by_author(errors),
    )
    known = operator or assumed_operator(universe, name, place)
    report = explain_higher_order(state, known, place, assumed, said)
    return report if operator is not None else replace(report, impls=())
