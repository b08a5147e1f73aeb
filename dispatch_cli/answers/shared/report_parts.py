"""Parts that several reports have: the states that they start from, key sets, problems of the input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.keys.keyset import DispatchKeySet, components_of, functionalities_of
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


class KeySet(NamedTuple):
    """A key set: its keys as PyTorch iterates them, and its bits, which can name more than its keys do.

    raw: PyTorch's ``raw_repr``, 64 bits in hexadecimal.
    """

    keys: tuple[str, ...]
    functionalities: tuple[str, ...]
    backends: tuple[str, ...]
    raw: str


def key_set_of(keys: DispatchKeySet) -> KeySet:
    """A key set in parts."""
    return KeySet(tuple(keys), functionalities_of(keys), components_of(keys), hexadecimal(keys.bits))


def hexadecimal(bits: int) -> str:
    """64 bits in hexadecimal."""
    return f"0x{bits:016x}"


@dataclass(frozen=True, slots=True)
class ProblemsReport:
    """Every problem that was found, in order of place; nothing else was done."""

    REPORT: ClassVar[str] = "problems"

    problems: tuple[Problem, ...]
