"""What is different from the state without what is tried out."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.sides import Old, sides_of
from dispatch_cli.explore.answers.table import exact, operator_glob
from dispatch_cli.explore.answers.whole import whole
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.report.diff import diff_report
from dispatch_cli.report.diff_arguments import DiffArguments
from dispatch_cli.report.diff_parts import EVERYTHING, DiffChoice
from dispatch_cli.report.registrations import registrations_report

MOST_NAMED = 50
"""Operators that a command line names; where changes can concern more, everything is compared."""


class WantedDiff(NamedTuple):
    """What ``diff`` is to say of the changes. operators: those that they can concern; none for all."""

    sides: DiffArguments
    operators: tuple[OperatorName, ...]

    def answer(self, before: State, after: State) -> PaneAnswer:
        """The comparison of the state without the changes and the one with them."""
        chosen = DiffChoice(frozenset(map(str, self.operators)), frozenset()) if self.operators else EVERYTHING
        report = diff_report(before, after, (self.sides.old, self.sides.new), chosen)
        ops = [text for name in self.operators for text in ("--op", exact(name))]
        return PaneAnswer(report, ("diff", *self.sides.arguments, *ops))


def changes_answer(session: Session, spot: Spot = Spot()) -> PaneAnswer | None:  # noqa: B008
    """What ``diff`` says of the original state and the one with the changes; without any, what is registered at a spot.

    Of the operators that the changes can concern; of all where these are many, or a backend fallback is among them.
    """
    if not session.whatif.changes:
        return _registered(session, spot)
    wanted = wanted_diff(session)
    return None if wanted is None else wanted.answer(session.original, session.state)


def wanted_diff(session: Session) -> WantedDiff | None:
    """What ``diff`` is to say of the changes; None where it has no arguments for that."""
    sides = sides_of(session, Old(None))
    if sides is None:
        return None
    touched = session.whatif.touched
    names = sorted({name for one in touched for name in one.operators}, key=str)
    is_of_all = len(names) > MOST_NAMED or any(one.keys for one in touched)
    return WantedDiff(sides, () if is_of_all else tuple(names))


def _registered(session: Session, spot: Spot) -> PaneAnswer | None:
    if spot.operator is None or spot.operator not in session.state.dispatcher:
        return None
    report = whole(registrations_report(session.state, (spot.operator,), ()))
    return PaneAnswer(report, session.command("register", "--op", operator_glob(session, spot)))
