"""The cells of the support matrix that give another answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from dispatch_cli.answers.diff.parts import CELLS, DiffChoice
from dispatch_cli.engine.comparison.states import StatesChange
from dispatch_cli.engine.support.cell import Column, Reason, Verdict
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span
from dispatch_cli.model.support import SupportContext


class DiffCell(NamedTuple):
    """A cell that is another one. spans: of the registrations that serve the call, or fail it, on each side."""

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
    names = [name for name in _candidates(change, chosen) if all(name in side.names for side in sides)]
    operators = [[side.names[name] for name in names] for side in sides]
    columns = [
        column
        for column in dict.fromkeys(_columns(change, operators) if names else ())
        if chosen.has_key(column.backend) and all(column.backend in side.universe.slot for side in sides)
    ]
    before, after = (support_rows(side.state, some, columns) for side, some in zip(sides, operators, strict=True))
    for old, new in zip(before, after, strict=True):
        for column, was, now in zip(columns, old.cells, new.cells, strict=True):
            if (was.verdict, was.reason) != (now.verdict, now.reason):
                answers = was.verdict, now.verdict, was.reason, now.reason
                yield DiffCell(str(new.operator), column.backend, column.context, *answers, was.span, now.span)


def _candidates(change: StatesChange, chosen: DiffChoice) -> list[str]:
    changed = {one.name for one in change.operators}
    own = {str(name) for side in (change.old, change.new) for name in side.state.own_operators()}
    if not own:
        return sorted(changed) if chosen.operators is not None or tuple(chosen.parts) == (CELLS,) else []
    if chosen.operators is not None:
        own.intersection_update(chosen.operators)
    if change.fallbacks or change.only_old or change.only_new or change.old.universe is not change.new.universe:
        return sorted(own)
    return sorted(name for name in own if name in changed or _has_other_rules(change, name))


def _has_other_rules(change: StatesChange, name: str) -> bool:
    """Whether what fake tensors ask of an operator differs, which its registrations do not say."""
    operator = OperatorName.parse(name)
    return change.old.state.fake_rules(operator) != change.new.state.fake_rules(operator)


def _columns(change: StatesChange, operators: list[list[OperatorName]]) -> Iterator[Column]:
    for side, some in zip((change.old, change.new), operators, strict=True):
        yield from support_columns(side.state, some)
