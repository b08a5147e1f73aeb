"""What is different from another state, and an operator over the embedded versions."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli import bases
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.sides import Old, old_state, sides_of
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE, OperatorName
from dispatch_cli.report.diff import diff_report
from dispatch_cli.report.diff_parts import EVERYTHING, DiffChoice
from dispatch_cli.report.history import history_report
from dispatch_cli.report.history_versions import Versions
from dispatch_cli.report.selection import DEFAULT_OVERLOAD


class ComparedStates(NamedTuple):
    """The states of a comparison, for the words of its answer."""

    old: State
    new: State


def diff_answer(
    session: Session, old: Old, spot: Spot | None = None, states: ComparedStates | None = None
) -> PaneAnswer | None:
    """What is different in a session's state; None where ``diff`` cannot say it. spot: of its operator alone.

    states: both sides, where they are there already.
    """
    sides = sides_of(session, old)
    if sides is None:
        return None
    states = compared(session, old) if states is None else states
    ops = () if spot is None else ("--op", _name(spot))
    report = diff_report(states.old, states.new, (sides.old, sides.new), _chosen(spot))
    return PaneAnswer(report, ("diff", *sides.arguments, *ops))


def compared(session: Session, old: Old) -> ComparedStates:
    """Both sides of a comparison, the new one as it is in the session."""
    return ComparedStates(old_state(session, old, session.original), session.state)


def _chosen(spot: Spot | None) -> DiffChoice:
    if spot is None:
        return EVERYTHING
    operators = frozenset() if spot.operator is None else frozenset((str(spot.operator),))
    higher_order = frozenset() if spot.higher_order is None else frozenset((spot.higher_order,))
    return DiffChoice(operators, higher_order)


def _name(spot: Spot) -> str:
    """The operator of a spot, so that no other one is meant."""
    if spot.operator is not None:
        return exact(spot.operator)
    return f"{HIGHER_ORDER_NAMESPACE}::{spot.higher_order}"


def exact(name: OperatorName) -> str:
    """A name as a glob that finds no other overload."""
    return str(name) if name.overload else f"{name}{DEFAULT_OVERLOAD}"


def history_answer(spot: Spot, versions: Versions | None = None) -> PaneAnswer | None:
    """An operator over the embedded versions; None where none has it. versions: those, where they are open already."""
    versions = every_version() if versions is None else versions
    if spot.operator is not None:
        name = str(spot.operator)
        if any(versions.with_operator(name)):
            return PaneAnswer(history_report(versions, [name]), ("history", name))
    elif spot.higher_order is not None and spot.higher_order in versions.higher_order_operators():
        name = f"{HIGHER_ORDER_NAMESPACE}::{spot.higher_order}"
        return PaneAnswer(history_report(versions, (), [spot.higher_order]), ("history", name))
    return None


def every_version() -> Versions:
    """All embedded versions, the oldest first."""
    return Versions([*reversed(bases.names())])
