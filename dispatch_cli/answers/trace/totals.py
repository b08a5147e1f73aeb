"""Totals of a program: calls and kernels by operator, kernels of files that ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.engine.call.trace import Hop
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.calls.call import CallEnd
from dispatch_cli.model.declarations import Fallback, Implement, Step
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL
from dispatch_cli.trace.explained import Explained
from dispatch_cli.trace.selected import Selected

_Which = tuple[str, str]
"""An operator and a key; backend fallbacks have no operator."""


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


class KernelReached(NamedTuple):
    """A kernel that files register, and how many calls of the trace ran it.

    calls: in which it was observed: as the first kernel, or any with --verify. predicted: in which it is only predicted
    to have run. operator: None for a backend fallback. key: where it is registered. span: where a file says so;
    also_at: where the same operator and key are registered as well, in another file or under another condition.
    """

    operator: str | None
    key: str
    kernel: str
    span: Span | None
    also_at: tuple[Span, ...]
    calls: int
    predicted: int


def kernels_reached(view: TraceView, own: Sequence[Step]) -> tuple[KernelReached, ...]:
    """The kernels that the steps of files register, in their order. What only falls through is none."""
    counts, predicted = _counts(view)
    reached: dict[tuple[str, str], KernelReached] = {}
    for step in own:
        if not isinstance(step, Implement | Fallback) or step.kernel.fallthrough:
            continue
        operator = str(step.operator) if isinstance(step, Implement) else ""
        key, span = step.dispatch_key or CATCH_ALL, step.kernel.span
        before = reached.get((operator, key))
        if before is None:
            which = operator, key
            before = KernelReached(operator or None, key, step.kernel.label, span, (), counts[which], predicted[which])
        elif span is not None and span not in (before.span, *before.also_at):
            before = before._replace(also_at=(*before.also_at, span))
        reached[operator, key] = before
    return tuple(reached.values())


def _counts(view: TraceView) -> tuple[Counter[_Which], Counter[_Which]]:
    """Number of calls that ran each registration, as was observed, and as is only predicted."""
    observed: Counter[_Which] = Counter()
    predicted: Counter[_Which] = Counter()
    alike = Counter(map(view.happened.number_of, range(len(view.recording.calls))))
    for number, count in alike.items():
        explained = view.happened.of_number(number)
        ran = explained.own_hops
        seen = {*_registrations(explained, ran[: explained.seen])}
        for registration in seen:
            observed[registration] += count
        for registration in {*_registrations(explained, ran)} - seen:
            predicted[registration] += count
    return observed, predicted


def _registrations(explained: Explained, hops: Sequence[Hop]) -> Iterator[_Which]:
    """Registrations of the kernels."""
    for hop in hops:
        if hop.live.registration is not None:
            operator = "" if hop.live.rule is Rule.FALLBACK else str(explained.operator)
            yield operator, hop.live.registration.key
