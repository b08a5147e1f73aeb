"""Parts that several reports have: the states that they start from, problems of the input."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.engine.state import State
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.problem import Problem
from dispatch_cli.model.span import Span


class UndecidedKernel(NamedTuple):
    """A kernel in sources that the answer leaves out, so that what it calls missing may be there.

    unknown: what is not known of it, by field, and the expression that decides it.
    """

    operator: str
    span: Span
    unknown: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class StartsFrom:
    """The first fields of reports on a state.

    over: the embedded states that it starts from. over_files: the files that it starts from besides: those that the
    user's files extend. over_assumed: no option or file named the states. undecided_kernels: those of the answer's
    operators.
    """

    universe: str
    over: tuple[str, ...]
    over_files: tuple[str, ...]
    over_assumed: bool
    undecided_kernels: tuple[UndecidedKernel, ...]


def starts_from(
    state: State, names: Iterable[OperatorName] = ()
) -> tuple[str, tuple[str, ...], tuple[str, ...], bool, tuple[UndecidedKernel, ...]]:
    """The fields of `StartsFrom` of a state, in order. names: the operators of the answer."""
    undecided = undecided_kernels(state, names)
    return state.dispatcher.universe.name, state.over, state.over_files, state.over_assumed, undecided


def undecided_kernels(state: State, names: Iterable[OperatorName]) -> tuple[UndecidedKernel, ...]:
    """The kernels of operators that the sources register, and of which something is not known."""
    if not state.undecided:
        return ()
    from dispatch_cli.checks.files import NO_KERNELS, operator_parts
    from dispatch_cli.model.declarations import Undecided

    kernels: dict[str | None, list[tuple[str | None, Undecided]]] = {}
    for registration in state.undecided:
        if registration.registers not in NO_KERNELS and registration.name is not None:
            namespace, own = operator_parts(registration)
            kernels.setdefault(own, []).append((namespace, registration))
    return tuple(
        UndecidedKernel(str(name), kernel.at, kernel.unknown)
        for name in names
        for namespace, kernel in kernels.get(str(name).rpartition("::")[2], ())
        if namespace in (None, name.namespace)
    )


@dataclass(frozen=True, slots=True)
class ProblemsReport:
    """Every problem that was found, in order of place; nothing else was done."""

    REPORT: ClassVar[str] = "problems"

    problems: tuple[Problem, ...]
