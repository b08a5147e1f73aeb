"""Choices of Python's ``resolve_key`` at one slot, and all that differ from the C++ table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from dispatch_cli.answers.findings.crossref.divergences import (
    DivergenceGroup,
    PythonDifference,
    difference_of,
    groups_of,
)
from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.python import table as python_table
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import entry_for
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.span import Span


class PythonRow(NamedTuple):
    """One slot.

    chosen_key: the key whose kernel runs, in the words of ``resolve_key``; None where it raises an error,
    and where it is not known.
    rule, rule_number, source: as in a C++ table. kernel: the function, or what a dump shows for a C++ kernel; None when
    there is none. python: it is a Python kernel. core_fallback: it is one of PyTorch's own backend fallbacks.
    error: what ``resolve_key`` raises, where it does.
    differs: how the C++ table decides, where it chooses another key.
    """

    key: str
    chosen_key: str | None
    rule: Rule
    rule_number: int
    source: str | None
    kernel: str | None
    python: bool
    fallthrough: bool
    core_fallback: bool
    span: Span | None
    error: str | None
    differs: PythonDifference | None


class OperatorDifferences(NamedTuple):
    """The slots of an operator at which Python chooses another key."""

    operator: str
    slots: tuple[PythonDifference, ...]

    def groups(self, places: Mapping[str, int]) -> tuple[DivergenceGroup, ...]:
        """Slots that are decided alike together. places: of the slots in the table."""
        return groups_of([(self.operator, slot) for slot in self.slots], places)


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
    python_kernel = kernels.get(chosen) if chosen is not None else None
    takes = chosen is not None and python_kernel is None
    entry = entry_for(key, decision, dispatcher.active(name), dispatcher.fallbacks) if takes else None
    raises = chosen is None and decision.rule is not Rule.NOT_KNOWN
    kernel = None if entry is None else entry.kernel
    return PythonRow(
        key=key,
        chosen_key=chosen,
        rule=decision.rule,
        rule_number=decision.number,
        source=decision.source,
        kernel=python_kernel.kernel if python_kernel is not None else kernel.label if kernel is not None else None,
        python=python_kernel is not None,
        fallthrough=entry is not None and entry.is_fallthrough,
        core_fallback=decision.rule is Rule.FALLBACK and kernel is not None and kernel.span is None,
        span=python_kernel.span if python_kernel is not None else kernel.span if kernel is not None else None,
        error=python_table.error_text(name, key, decision.rule) if raises else None,
        differs=next((difference_of(divergence) for divergence in divergences if divergence.key == key), None),
    )


def _differences(state: State, name: OperatorName, keys: frozenset[str] | None) -> tuple[PythonDifference, ...]:
    python = [kernel.dispatch_key for kernel in state.python_kernels(name)]
    divergences = python_table.divergences(state.dispatcher, name, python)
    return tuple(difference_of(divergence) for divergence in divergences if keys is None or divergence.key in keys)
