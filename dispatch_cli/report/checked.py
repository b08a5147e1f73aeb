"""Which operators the checks look at where none are chosen, and what a project says of a run of the checks."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.model.declarations import Declarations, Define, Implement
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.settings import CheckSettings
from dispatch_cli.report.baseline import Entry


class CheckSetup(NamedTuple):
    """What a project says of a run of the checks.

    settings: the weakest first. guarded: what the files say with the project's guards; None where it has none.
    baseline: the findings that are known; None without a baseline.
    """

    settings: tuple[CheckSettings, ...] = ()
    guarded: Declarations | None = None
    baseline: Mapping[Entry, int] | None = None


def checked_operators(state: State, from_files: bool) -> tuple[list[OperatorName], tuple[HigherOrderOperator, ...]]:
    """The files' own operators where these are laid over something, or all. from_files: the user named files."""
    if from_files and _has_a_base(state):
        return state.own_operators(), state.own_higher_order_operators()
    return [OperatorName.parse(name) for name in state.dispatcher.names()], state.higher_order_operators


def _has_a_base(state: State) -> bool:
    """Whether the files that the user named are laid over something; a capture without anybody's modules is not."""
    said = state.declarations
    if state.source is not None or state.base is not None:
        return True
    if any(not one.is_own and said.through(one.span) for one in said.higher_order_operators):
        return True
    if not said.inherited_steps:
        return False
    places = (step.span for step in said.inherited_steps if isinstance(step, Define | Implement))
    return all(said.through(place) for place in islice(places, 1))
