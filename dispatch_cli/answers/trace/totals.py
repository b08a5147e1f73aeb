"""Totals of a program: calls and kernels by operator."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.trace.selected import Selected


class OperatorTotal(NamedTuple):
    """The calls of an operator.

    casts: calls by which autocast cast their tensors. microseconds: that they took, with the calls inside of
    them and with what recording costs; a call inside of another one of the operator is counted once. paths: the kernels
    that they run, up to one that calls the operator again.
    """

    operator: str
    calls: int
    casts: int
    microseconds: int
    paths: tuple[PathTotal, ...]


class PathTotal(NamedTuple):
    """Kernels in turn by key, and how many calls run them.

    assumed: the keys of those that are predicted after them, in calls that did not return. ended: how the calls ended.
    """

    keys: tuple[str, ...]
    assumed: tuple[str, ...]
    ended: CallEnd
    calls: int


def operator_totals(view: TraceView, chosen: Selected) -> tuple[OperatorTotal, ...]:
    """The operators, those with the most calls first."""
    calls = view.recording.calls
    counts: Counter[int] = Counter()
    times: Counter[int] = Counter()
    casts: Counter[str] = Counter()
    for numbers in chosen.of_thread:
        around: list[int] = []
        operators: Counter[int] = Counter()
        """The calls around, and how many of them each operator has."""
        for call in numbers:
            number, parent = view.happened.number_of(call), chosen.parents[call]
            while around and around[-1] != parent:
                operators[_operator(view, around.pop())] -= 1
            counts[number] += 1
            if call in view.facts.casts:
                casts[view.recording.operator_of(call)] += view.facts.casts[call]
            operator = _operator(view, call)
            if not operators[operator]:
                times[number] += calls.microseconds(call) or 0
            around.append(call)
            operators[operator] += 1
    by_name: dict[str, Counter[PathTotal]] = {}
    spent: Counter[str] = Counter()
    for number, count in counts.items():
        happened, path = view.happened.of_number(number), view.path_of(number)
        name = str(happened.operator)
        total = PathTotal(tuple(kernel.key for kernel in path.own), path.assumed, happened.ended, calls=0)
        by_name.setdefault(name, Counter())[total] += count
        spent[name] += times[number]
    totals = [
        OperatorTotal(
            name,
            paths.total(),
            casts[name],
            spent[name],
            tuple(path._replace(calls=count) for path, count in paths.most_common()),
        )
        for name, paths in by_name.items()
    ]
    return tuple(sorted(totals, key=lambda total: (-total.calls, total.operator)))


def _operator(view: TraceView, call: int) -> int:
    """The number of the operator that was called."""
    number: int = view.recording.signatures[view.recording.calls.signature[call]]["operator"]
    return number
