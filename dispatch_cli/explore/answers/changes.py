"""Reports of registrations, and of the differences from the state without the changes on trial."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.answers.diff.arguments import DiffArguments
from dispatch_cli.answers.diff.parts import EVERYTHING, DiffChoice
from dispatch_cli.answers.diff.report import diff_report
from dispatch_cli.answers.table.registrations.fallbacks import backend_fallbacks_report
from dispatch_cli.answers.table.registrations.order import order_report
from dispatch_cli.checks.check import Finding
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.findings import ALL, operator_findings, whole_report
from dispatch_cli.explore.answers.sides import Old, sides_of
from dispatch_cli.explore.answers.table import exact, operator_glob
from dispatch_cli.explore.answers.whole import whole
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registrations_at_key import NamedRegistration

MOST_NAMED = 50
"""Operators that a command line names; where changes can concern more, everything is compared."""


class WantedDiff(NamedTuple):
    """Input of ``diff`` for the changes. operators: those that the changes can concern; none for all."""

    sides: DiffArguments
    operators: tuple[OperatorName, ...]

    def answer(self, before: State, after: State) -> PaneAnswer:
        """The comparison of the state without the changes and the one with them."""
        chosen = DiffChoice(frozenset(map(str, self.operators)), frozenset()) if self.operators else EVERYTHING
        report = diff_report(before, after, (self.sides.old, self.sides.new), chosen)
        ops = [text for name in self.operators for text in ("--op", exact(name))]
        return PaneAnswer(report, ("diff", *self.sides.arguments, *ops))


def registrations_answer(
    session: Session, owner: OperatorName | None, there: Sequence[NamedRegistration]
) -> PaneAnswer | None:
    """Report of the backend fallbacks (owner: None), or of *there*, an operator's registrations in their order.

    None for an operator that the state does not have.
    """
    if owner is not None and owner not in session.state.dispatcher:
        return None
    if owner is None:
        return PaneAnswer(backend_fallbacks_report(session.state), session.command("register", "--view", "fallbacks"))
    report = whole(order_report(session.state, [(owner, there)]))
    command = session.command("register", "--op", operator_glob(session, Spot(owner)), "--view", "order")
    return PaneAnswer(report, command)


def finding_answer(session: Session, finding: Finding, is_new: bool, state: State) -> PaneAnswer:
    """Report of ``check-invariants`` on the operator of a finding that the changes make or end; on all if it has none.

    state: a snapshot to check (`state_to_check`), without the changes if the finding is not new.
    """
    command = session.command if is_new else session.command_before
    name = finding.operator
    if name is None:
        return PaneAnswer(whole_report(session, state), command("check-invariants", *ALL))
    spot = Spot(OperatorName.parse(name)) if "::" in name else Spot(higher_order=name)
    return PaneAnswer(
        operator_findings(session, state, spot), command("check-invariants", *ALL, "--op", operator_glob(session, spot))
    )


def changes_answer(session: Session) -> PaneAnswer | None:
    """Report of ``diff`` between the original state and the one with the changes.

    It is about the operators that the changes can concern; about all if these are many, or a fallback is among them.
    """
    wanted = wanted_diff(session)
    return None if wanted is None else wanted.answer(session.original, session.state)


def wanted_diff(session: Session) -> WantedDiff | None:
    """Input of ``diff`` for the changes; None if no arguments of it can name both states."""
    sides = sides_of(session, Old(None))
    if sides is None:
        return None
    touched = session.whatif.touched
    names = sorted({name for change in touched for name in change.operators}, key=str)
    is_of_all = len(names) > MOST_NAMED or any(change.keys for change in touched)
    return WantedDiff(sides, () if is_of_all else tuple(names))
