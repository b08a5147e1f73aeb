"""The findings about higher-order operators that are the files' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dispatch_cli.checks.check import Finding
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.higher_order import HigherOrderOperator


def own_findings(view: View, find: Callable[[State, HigherOrderOperator], Iterator[Finding]]) -> Iterator[Finding]:
    """Findings that *find* makes of the view's operators.

    For an operator that the files only add to, those are left out of which all details are there without the files.
    """
    for operator in view.higher_order:
        inherited = view.state.inherited_higher_order_operators.get(operator.name) if operator.is_own else None
        known = [] if inherited is None else [detail for it in find(view.state, inherited) for detail in it.details]
        yield from (it for it in find(view.state, operator) if not set(it.details).issubset(known))
