"""Parts that several reports have: the states that they start from, problems of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dispatch_cli.engine.state import State
from dispatch_cli.model.problem import Problem


@dataclass(frozen=True, slots=True)
class StartsFrom:
    """The first fields of reports on a state.

    over: the embedded states that it starts from. over_files: the files that it starts from besides: those that the
    user's files extend. over_assumed: no option or file named the states.
    """

    universe: str
    over: tuple[str, ...]
    over_files: tuple[str, ...]
    over_assumed: bool


def starts_from(state: State) -> tuple[str, tuple[str, ...], tuple[str, ...], bool]:
    """The fields of `StartsFrom` of a state, in order."""
    return state.dispatcher.universe.name, state.over, state.over_files, state.over_assumed


@dataclass(frozen=True, slots=True)
class ProblemsReport:
    """Every problem that was found, in order of place; nothing else was done."""

    REPORT: ClassVar[str] = "problems"

    problems: tuple[Problem, ...]
