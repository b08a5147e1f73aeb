"""The cells of the support matrix that give another answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.diff.parts import CELLS, DiffChoice
from dispatch_cli.engine.comparison.sides import Side
from dispatch_cli.engine.comparison.states import StatesChange
from dispatch_cli.engine.support.cell import Reason, Verdict
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.support import SupportContext


class DiffCell(NamedTuple):
    """A cell that is another one. old_declared_at, new_declared_at: what serves the call, or fails it."""

    operator: str
    backend: str
    context: SupportContext
    before: Verdict
    after: Verdict
    old_reason: Reason | None
    new_reason: Reason | None
    old_declared_at: Span | None
    new_declared_at: Span | None


def changed_cells(change: StatesChange, chosen: DiffChoice) -> Iterator[DiffCell]:
    """The cells of the operators that both sides have, and that differ or whose surroundings do.

    Of the operators of files; of states without files, of those that are chosen, or where nothing else is asked for.
    """
    sides = change.old, change.new
    operators = _candidates(change, chosen)
    there = sides if operators else ()
    columns = [
        column
        for column in dict.fromkeys(column for side in there for column in support_columns(side.state, operators))
        if chosen.has_key(column.backend) and all(column.backend in side.universe.slot for side in sides)
    ]
    before, after = (support_rows(side.state, operators, columns) for side in sides)
    for old, new in zip(before, after, strict=True):
        for column, was, now in zip(columns, old.cells, new.cells, strict=True):
            if (was.verdict, was.reason) != (now.verdict, now.reason):
                answers = was.verdict, now.verdict, was.reason, now.reason
                yield DiffCell(str(new.operator), column.backend, column.context, *answers, was.span, now.span)


def _candidates(change: StatesChange, chosen: DiffChoice) -> list[OperatorName]:
    sides = change.old, change.new
    changed = {operator.name for operator in change.operators}
    own = {str(name) for side in sides for name in side.state.own_operators()}
    names = own if chosen.operators is None else own.intersection(chosen.operators)
    if not own:
        names = changed if chosen.operators is not None or tuple(chosen.parts) == (CELLS,) else set()
    parsed = {name: OperatorName.parse(name) for name in sorted(names)}
    both = {name: operator for name, operator in parsed.items() if all(operator in side.dispatcher for side in sides)}
    if change.fallbacks or change.only_old or change.only_new or change.old.universe is not change.new.universe:
        return [*both.values()]
    old, new = sides
    return [
        operator for name, operator in both.items() if name in changed or _facts(old, operator) != _facts(new, operator)
    ]


def _facts(side: Side, operator: OperatorName) -> object:
    """Facts beside registrations that decide cells: about fake tensors, and about what kernels do."""
    kernels = {key: registration.kernel for key, registration in side.dispatcher.active(operator).items()}
    known = {key: (kernel.redispatches, kernel.body, kernel.setup_body) for key, kernel in kernels.items()}
    return side.state.fake_rules(operator), known
