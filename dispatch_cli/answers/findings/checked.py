"""Operators that the checks look at, their number, and a project's settings for a run of the checks."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from itertools import islice
from typing import NamedTuple

from dispatch_cli.answers.findings.baseline import Entry
from dispatch_cli.checks.running.brought_about import changed_operators
from dispatch_cli.checks.view import View
from dispatch_cli.engine.state import State
from dispatch_cli.model.declarations import Declarations, Define, Implement
from dispatch_cli.model.higher_order import HigherOrderOperator
from dispatch_cli.model.names import OperatorName, parsed_names
from dispatch_cli.model.settings import CheckSettings


class CheckSetup(NamedTuple):
    """Settings of a project for a run of the checks.

    settings: the weakest first. guarded: what the files say with the project's guards; None where it has none.
    baseline: the findings that are known; None without a baseline.
    """

    settings: tuple[CheckSettings, ...] = ()
    guarded: Declarations | None = None
    baseline: Mapping[Entry, int] | None = None


class NotChecked(NamedTuple):
    """Numbers of operators that were left out, as not the user's own, or checked without knowing whose they are.

    Those that the user's changes concern, and those with findings, are not left out.
    pytorch: those that only PyTorch registered something for. extended: those of files that the user's extend.
    unknown: those of a capture that does not say who registered them; they were checked as PyTorch's are.
    """

    pytorch: int = 0
    extended: int = 0
    unknown: int = 0


def checked_operators(state: State, from_files: bool) -> tuple[list[OperatorName], tuple[HigherOrderOperator, ...]]:
    """The files' own operators where these are laid over something, or all. from_files: the user named files."""
    if from_files and _has_a_base(state):
        return state.own_operators(), state.own_higher_order_operators()
    return list(parsed_names(tuple(state.dispatcher.names()))), state.higher_order_operators


def _has_a_base(state: State) -> bool:
    """True if the files that the user named are laid over something; a capture without anybody's modules is not."""
    declared = state.declarations
    if state.source is not None or state.base is not None:
        return True
    if any(not operator.is_own and declared.through(operator.span) for operator in declared.higher_order_operators):
        return True
    if not declared.inherited_steps:
        return False
    places = (step.span for step in declared.inherited_steps if isinstance(step, Define | Implement))
    return all(declared.through(place) for place in islice(places, 1))


def operators_checked(view: View, chosen: Collection[str], reported: Collection[str]) -> tuple[int, NotChecked]:
    """Number of operators that a run looked at, and those that it left out; together they are all that it could check.

    view: of the run, after it. chosen: the operators that it was to look at. reported: those that it says something of.
    """
    if not view.has_files:
        return len({*chosen, *reported}), NotChecked()
    higher_order = {operator.name: operator for operator in view.state.higher_order_operators}
    names = frozenset((*view.dispatcher.names(), *higher_order) if view.is_whole else chosen)
    # the names of a base are texts, and thousands
    own = {*map(str, view.own), *(name for name, operator in higher_order.items() if operator.is_own)}
    unknown = {
        *map(str, view.unknown_operators),
        *(name for name, item in higher_order.items() if item.of_unknown and not (item.of_pytorch or item.is_own)),
    }
    compared = map(str, changed_operators(view, view.state)) if view.changes else ()
    others = names.difference(own, unknown, reported, compared)
    of_pytorch = {name for name, operator in higher_order.items() if operator.of_pytorch}
    pytorchs = [name for name in others if name in view.pytorch_operators or name in of_pytorch]
    return len(names.union(reported)) - len(others), NotChecked(
        pytorch=len(pytorchs), extended=len(others) - len(pytorchs), unknown=len(names & unknown)
    )
