"""What is different from the state without what is tried out."""

from __future__ import annotations

from dispatch_cli.explore.answers.sides import Old, sides_of
from dispatch_cli.explore.session import PaneAnswer, Session
from dispatch_cli.report.diff import diff_report
from dispatch_cli.report.diff_parts import EVERYTHING, DiffChoice
from dispatch_cli.report.selection import DEFAULT_OVERLOAD


def changes_answer(session: Session) -> PaneAnswer | None:
    """What ``diff`` says of the original state and the one with the changes; None without changes.

    Of the operators that the changes can concern; of all where a backend fallback is among them.
    """
    sides = sides_of(session, Old(None)) if session.whatif.changes else None
    if sides is None:
        return None
    touched = session.whatif.touched
    names = sorted({str(name) for one in touched for name in one.operators})
    chosen, ops = EVERYTHING, [""][:0]
    if not any(one.keys for one in touched):
        chosen = DiffChoice(frozenset(names), frozenset())
        ops = [text for name in names for text in ("--op", name if "." in name else f"{name}{DEFAULT_OVERLOAD}")]
    report = diff_report(session.original, session.state, (sides.old, sides.new), chosen)
    return PaneAnswer(report, ("diff", *sides.arguments, *ops))
