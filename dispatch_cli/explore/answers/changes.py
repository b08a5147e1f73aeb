"""Changes on trial: what is registered, the differences that they cause, and the keys that registrations can have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.answers.diff.parts import EVERYTHING, DiffChoice
from dispatch_cli.answers.diff.report import DiffArguments, diff_report
from dispatch_cli.answers.table.registrations.report import backend_fallbacks_report, order_report
from dispatch_cli.engine.history.apply import all_declarations
from dispatch_cli.engine.history.state import State
from dispatch_cli.explore.answers.differences import Old, sides_of
from dispatch_cli.explore.answers.table import exact, operator_glob, whole
from dispatch_cli.explore.session import PaneAnswer, Session, Spot
from dispatch_cli.model.declarations import Fallback, Implement
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.registration_names import NamedRegistration, key_of

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


class LikelyKey(NamedTuple):
    """A dispatch key. operators: how many have a kernel there."""

    key: str
    operators: int


def likely_keys(state: State, aliases: bool) -> list[LikelyKey]:
    """The keys at which something can be registered: those of the files' registrations first, then those at which most
    operators have a kernel.

    aliases: whether alias keys are among them.
    """
    dispatcher, universe = state.dispatcher, state.dispatcher.universe
    steps = all_declarations(state).steps
    of_files = Counter(
        step.dispatch_key if isinstance(step, Fallback) else key_of(step)
        for step in steps
        if isinstance(step, Implement | Fallback)
    )
    kernels = Counter[str]()
    # operators with equal sets of keys are counted together
    for bits, count in Counter(dispatcher.shape(name)[0] for name in dispatcher).items():
        for key in dispatcher.keys_in(bits):
            kernels[key] += count
    keys = [key for key in universe.ids if key in universe.parseable]
    keys = [key for key in keys if key in universe.slot or (aliases and key in universe.aliases)]
    return [LikelyKey(key, kernels[key]) for key in sorted(keys, key=lambda key: (-of_files[key], -kernels[key]))]


def wanted_diff(session: Session) -> WantedDiff | None:
    """Input of ``diff`` for the changes; None if no arguments of it can name both states.

    It is about the operators that the changes can concern; about all if these are many, or a fallback is among them.
    """
    sides = sides_of(session, Old(None))
    if sides is None:
        return None
    touched = session.whatif.touched
    names = sorted({name for change in touched for name in change.operators}, key=str)
    is_of_all = len(names) > MOST_NAMED or any(change.keys for change in touched)
    return WantedDiff(sides, () if is_of_all else tuple(names))
