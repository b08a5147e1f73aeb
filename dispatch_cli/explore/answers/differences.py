"""Differences from another state, and an operator over the embedded versions."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from dispatch_cli import api, bases
from dispatch_cli.answers.diff.report import DiffArguments, as_side, diff_report
from dispatch_cli.answers.diff.rows import EVERYTHING, DiffChoice
from dispatch_cli.answers.history.changes import Versions
from dispatch_cli.answers.history.report import history_report
from dispatch_cli.engine.state import State
from dispatch_cli.explore.answers.table import exact
from dispatch_cli.explore.background import Step
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.names import HIGHER_ORDER_NAMESPACE
from dispatch_cli.model.universe import UNNAMED_BACKEND


class Old(NamedTuple):
    """A state to compare with. version: an embedded one; None for the files as they are without changes."""

    version: str | None

    @property
    def name(self) -> str:
        """Name in a list, and in sentences."""
        return self.version or "the state without your changes"


def olds(session: Session) -> list[Old]:
    """States that a session's state can be compared with: what the files start from, older versions, newer versions."""
    names = bases.names()
    own = next((name for name in [*session.original.over][:1] if name in names), None)
    choices = [Old(None)] if session.tried_file else []
    at = -1 if own is None else names.index(own)
    if own is not None and session.files:
        choices.append(Old(own))
    return choices + [Old(name) for name in (*names[at + 1 :], *reversed(names[: max(at, 0)]))]


def old_of(session: Session, chosen: Old | None) -> Old | None:
    """State to compare a session's state with: the chosen one as long as it is there, else the first."""
    there = olds(session)
    return chosen if chosen in there else next(iter(there), None)


def sides_of(session: Session, old: Old) -> DiffArguments | None:
    """The sides of a comparison; None where ``diff`` has no arguments for it."""
    files, tried = session.files, session.tried_file
    options = session.source[len(files) :]
    named = _bases_in(options)
    if old.version is None:
        before = files or named
        if not before or not tried:
            return None
        return DiffArguments(files or as_side(named), (*files, *tried), options)
    if files or tried:
        return DiffArguments((old.version,), (*files, *tried), options)
    if not named:
        return None
    return DiffArguments((old.version,), as_side(named), _without_base(options))


def old_state(session: Session, old: Old, original: State) -> State:
    """The state to compare with. original: a snapshot of the one without the changes on trial."""
    if old.version is None:
        return original
    backend = session.original.dispatcher.universe.backend_name
    return api.load_state((), bases=(old.version,), privateuse1=None if backend == UNNAMED_BACKEND else backend)


def _bases_in(options: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for before, text in pairwise(options) if before == "--base")


def _without_base(options: tuple[str, ...]) -> tuple[str, ...]:
    """Options without --base and --universe, which count for files alone."""
    kept: list[str] = []
    words = iter(options)
    for word in words:
        if word in ("--base", "--universe"):
            next(words)
        else:
            kept.append(word)
    return tuple(kept)


class ComparedStates(NamedTuple):
    """The states of a comparison, for the words of its answer."""

    old: State
    new: State


def diff_answer(session: Session, old: Old, spot: Spot | None, states: ComparedStates) -> PaneAnswer | None:
    """Differences of a session's state from an old one; None if ``diff`` has no arguments for it.

    spot: for the differences of its operator; None for all. states: both sides.
    """
    sides = sides_of(session, old)
    if sides is None:
        return None
    ops = () if spot is None else ("--op", _name(spot))
    report = diff_report(states.old, states.new, (sides.old, sides.new), _chosen(spot))
    return PaneAnswer(report, ("diff", *sides.arguments, *ops))


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


def history_answer(spot: Spot, versions: Versions) -> PaneAnswer | None:
    """An operator over the embedded versions; None where none has it, and for a higher-order one."""
    if spot.operator is None or not any(versions.with_operator(str(spot.operator))):
        return None
    name = str(spot.operator)
    return PaneAnswer(history_report(versions, [name]), ("history", name))


def every_version(step: Step | None = None) -> Versions:
    """All embedded versions, the oldest first. step: gets a text before slow work."""
    versions = Versions([*reversed(bases.names())])
    if step is not None:
        step(f"Opening {len(versions.names)} embedded versions…")
        versions.operators()  # their lists of names are read now
    return versions
