"""The operators that a program called: how often, how long, and with which kernels."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from dispatch_cli.report.trace_view import TraceView
from dispatch_cli.trace.selected import Selected


class OperatorTotal(NamedTuple):
    """The calls of an operator.

    microseconds: that they took, with the calls inside of them and with what recording costs; a call inside of another
    one of the operator is counted once. paths: the kernels that they run, up to one that calls the operator again.
    """

    operator: str
    calls: int
    microseconds: int
    paths: tuple[PathTotal, ...]


class PathTotal(NamedTuple):
    """Kernels in turn by key, and how many calls run them."""

    keys: tuple[str, ...]
    calls: int


def operator_totals(view: TraceView, chosen: Selected) -> tuple[OperatorTotal, ...]:
    """The operators, those with the most calls first."""
    calls = view.recording.calls
    counts: Counter[int] = Counter()
    times: Counter[int] = Counter()
    for numbers in chosen.of_thread:
        around: list[int] = []
        operators: Counter[int] = Counter()
        """The calls around, and how many of them each operator has."""
        for call in numbers:
            number, parent = view.happened.number_of(call), chosen.parents[call]
            while around and around[-1] != parent:
                operators[_operator(view, around.pop())] -= 1
            counts[number] += 1
            operator = _operator(view, call)
            if not operators[operator]:
                times[number] += calls.microseconds(call) or 0
            around.append(call)
            operators[operator] += 1
    by_name: dict[str, Counter[tuple[str, ...]]] = {}
    spent: Counter[str] = Counter()
    for number, count in counts.items():
        name = str(view.happened.of_number(number).operator)
        keys = tuple(one.key for one in view.path_of(number).own)
        by_name.setdefault(name, Counter())[keys] += count
        spent[name] += times[number]
    found = [
        OperatorTotal(name, sum(paths.values()), spent[name], tuple(PathTotal(*one) for one in paths.most_common()))
        for name, paths in by_name.items()
    ]
    return tuple(sorted(found, key=lambda one: (-one.calls, one.operator)))


def _operator(view: TraceView, call: int) -> int:
    """The number of the operator that was called."""
    number: int = view.recording.signatures[view.recording.calls.signature[call]]["operator"]
    return number
