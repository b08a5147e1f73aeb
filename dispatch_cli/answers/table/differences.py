"""Choices of Python's ``resolve_key`` at one slot, and all that differ from the C++ table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.shared.divergences import PythonDifference, difference_of
from dispatch_cli.answers.shared.slot_row import PythonRow
from dispatch_cli.answers.table.report import row_of
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry, entry_for
from dispatch_cli.model.names import OperatorName


class OperatorDifferences(NamedTuple):
    """The slots of an operator at which Python chooses another key."""

    operator: str
    slots: tuple[PythonDifference, ...]


@dataclass(frozen=True, slots=True)
class PythonDifferencesReport:
    """The operators with slots for which Python chooses another key than C++.

    over_assumed: as in `StartsFrom`. compared: how many operators were compared.
    """

    REPORT: ClassVar[str] = "python-differences"

    universe: str
    over_assumed: bool
    compared: int
    operators: Iterator[OperatorDifferences]


def differences_report(
    state: State, names: Sequence[OperatorName], keys: frozenset[str] | None = None
) -> PythonDifferencesReport:
    """Report of the slots of *names* for which Python chooses another key."""
    differences = (OperatorDifferences(str(name), _differences(state, name, keys)) for name in names)
    operators = (difference for difference in differences if difference.slots)
    return PythonDifferencesReport(state.dispatcher.universe.name, state.over_assumed, len(names), operators)


def python_row(state: State, name: OperatorName, key: str) -> PythonRow:
    """Python's choice at one slot. Errors: Refused for an unknown operator."""
    dispatcher = state.dispatcher
    kernels = {kernel.dispatch_key: kernel for kernel in state.python_kernels(name)}
    decision = python_table.decisions(dispatcher, name, kernels)[dispatcher.universe.slot[key]]
    divergences = python_table.divergences(dispatcher, name, kernels)
    chosen = python_table.chosen_key(key, decision)
    function = kernels.get(chosen) if chosen is not None else None
    is_cpp = chosen is not None and function is None
    active, fallbacks = dispatcher.active(name), dispatcher.fallbacks
    entry = entry_for(key, decision, active, fallbacks) if is_cpp else TableEntry(key, decision, None)
    row = PythonRow(*row_of(state, entry))
    raises = chosen is None and decision.rule is not Rule.NOT_KNOWN
    return row._replace(
        kernel=row.kernel if is_cpp else function.kernel if function is not None else None,
        span=row.span if function is None else function.span,
        python=function is not None,
        chosen_key=chosen,
        error=python_table.error_text(name, key, decision.rule) if raises else None,
        differs=next((difference_of(divergence) for divergence in divergences if divergence.key == key), None),
    )


def _differences(state: State, name: OperatorName, keys: frozenset[str] | None) -> tuple[PythonDifference, ...]:
    python = [kernel.dispatch_key for kernel in state.python_kernels(name)]
    divergences = python_table.divergences(state.dispatcher, name, python)
    return tuple(difference_of(divergence) for divergence in divergences if keys is None or divergence.key in keys)
