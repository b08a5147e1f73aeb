"""The support matrix of the files."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dispatch_cli.answers.support.report import MOST_OF_A_LIBRARY, support_report
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.support.support import support_columns, support_rows
from dispatch_cli.explore.answers.snapshot import snapshot
from dispatch_cli.explore.answers.table import operator_glob
from dispatch_cli.explore.background import Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName


def matrix_operators(state: State, spot: Spot) -> list[OperatorName]:
    """The operators that a matrix is of: those of the files; where there are none, that of the place."""
    names = state.own_operators()
    if 0 < len(names) <= MOST_OF_A_LIBRARY:
        return names
    return [] if spot.operator is None or spot.operator not in state.dispatcher else [spot.operator]


def support_search(session: Session, names: Sequence[OperatorName]) -> Callable[[Step], PaneAnswer]:
    """A function that judges the operators, and may run in a thread."""
    state, arguments = snapshot(session.state), session.command("")[1:]
    is_all = [*names] == state.own_operators()
    ops = [] if is_all else [part for name in names for part in ("--op", operator_glob(session, Spot(name)))]

    def search(step: Step) -> PaneAnswer:
        columns = support_columns(state, names)
        rows = []
        for row in support_rows(state, names, columns):
            rows.append(row)
            step(f"Judging calls: {len(rows):,} of {len(names):,} operators…")
        return PaneAnswer(support_report(state, columns, rows, arguments), session.command("support", *ops))

    return search
