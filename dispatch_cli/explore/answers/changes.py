"""What is different from the state without what is tried out."""

from __future__ import annotations

from dispatch_cli.explore.answers.sides import Old, sides_of
from dispatch_cli.explore.answers.table import exact, operator_glob
from dispatch_cli.explore.answers.whole import whole
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.report.diff import diff_report
from dispatch_cli.report.diff_parts import EVERYTHING, DiffChoice
from dispatch_cli.report.registrations import registrations_report


def changes_answer(session: Session, spot: Spot = Spot()) -> PaneAnswer | None:  # noqa: B008
    """What ``diff`` says of the original state and the one with the changes; without any, what is registered at a spot.

    Of the operators that the changes can concern; of all where a backend fallback is among them.
    """
    if not session.whatif.changes:
        return _registered(session, spot)
    sides = sides_of(session, Old(None))
    if sides is None:
        return None
    touched = session.whatif.touched
    names = sorted({name for one in touched for name in one.operators}, key=str)
    if any(one.keys for one in touched):
        chosen, names = EVERYTHING, []
    else:
        chosen = DiffChoice(frozenset(map(str, names)), frozenset())
    ops = [text for name in names for text in ("--op", exact(name))]
    report = diff_report(session.original, session.state, (sides.old, sides.new), chosen)
    return PaneAnswer(report, ("diff", *sides.arguments, *ops))


def _registered(session: Session, spot: Spot) -> PaneAnswer | None:
    if spot.operator is None or spot.operator not in session.state.dispatcher:
        return None
    report = whole(registrations_report(session.state, (spot.operator,), ()))
    return PaneAnswer(report, session.command("register", "--op", operator_glob(session, spot)))
