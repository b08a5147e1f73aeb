"""What ``explain`` is asked about a higher-order operator: which operator, and at which place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dispatch_cli.cli.options import SourceOptions, as_sentence, state_or_newest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dispatch_cli.engine.history.state import State
    from dispatch_cli.model.higher_order import HigherOrderOperator, ImplKind, ImplPlace
    from dispatch_cli.report.error_text import ErrorText
    from dispatch_cli.report.explain_higher_order import ExplainHigherOrderReport

_PREFIXES = ("mode", "subclass", "transform")


def place_named(state: State, operator: HigherOrderOperator, text: str) -> ImplPlace:
    """The place that a text names: a dispatch key, or a mode, subclass or transform; exits with 2 when there is none.

    A class may have its module before it, and the word for what it is: ``mode=MyMode``.
    """
    from dispatch_cli.model.higher_order import TRANSFORMS, ImplKind, ImplPlace

    prefix, sign, rest = text.partition("=")
    kind = ImplKind(prefix) if sign and prefix in _PREFIXES else None
    universe = state.dispatcher.universe
    name = rest.rpartition(".")[2] if kind is not None else universe.key_named(text).rpartition(".")[2]
    if kind is None and (name in universe.slot or name in universe.aliases or name in universe.per_backend):
        # Functionalize is a key and a transform, which is asked for by transform=Functionalize
        return ImplPlace(ImplKind.DISPATCH, name)
    known = _known(state, operator)
    if kind is None:
        kind = next((one for one, names in known.items() if name in names), None)
    if kind is ImplKind.TRANSFORM and name not in TRANSFORMS:
        raise click.BadParameter(
            f"there is no functorch transform {name[:200]!r}. The transforms are {', '.join(TRANSFORMS)}.",
            param_hint="'KEY'",
        )
    if kind is not None and name.isidentifier():
        return ImplPlace(kind, name)
    from dispatch_cli.model.suggest import suggestion

    names = [
        *universe.slots,
        *universe.aliases,
        *universe.per_backend,
        *(one for some in known.values() for one in some),
    ]
    hint = as_sentence(suggestion(name, names, 3))
    raise click.BadParameter(
        f"{operator.name} is a higher-order operator, but {text[:200]!r} is not a dispatch key of {universe.name}, "
        f"nor a known mode, subclass or transform.{hint} Write your own class as mode=NAME or subclass=NAME.",
        param_hint="'KEY'",
    )


def _known(state: State, operator: HigherOrderOperator) -> dict[ImplKind, Iterable[str]]:
    """What can be named without a word for what it is."""
    from dispatch_cli.engine.call.fake_tensor_mode import FAKE_TENSOR
    from dispatch_cli.engine.call.higher_order.handlers import FUNCTIONAL_CLASS
    from dispatch_cli.engine.call.thread import INFRA_MODES
    from dispatch_cli.model.higher_order import TRANSFORMS, ImplKind

    table = state.higher_order_table(operator)
    return {
        ImplKind.MODE: dict.fromkeys((*INFRA_MODES, *table.modes, *state.modes)),
        ImplKind.SUBCLASS: dict.fromkeys((FAKE_TENSOR, FUNCTIONAL_CLASS, *table.subclasses)),
        ImplKind.TRANSFORM: TRANSFORMS,
    }


def from_error(
    state: State, source: SourceOptions, assumed: bool, file: str, errors: list[ErrorText]
) -> ExplainHigherOrderReport:
    """The place that the first error is about, explained. The operator need not be declared."""
    from dataclasses import replace

    from dispatch_cli.model.higher_order import ImplKind
    from dispatch_cli.report.explain_higher_order import HigherOrderErrorSource, explain_higher_order
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
