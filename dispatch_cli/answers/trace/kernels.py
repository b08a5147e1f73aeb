"""Kernels of the user's files that a trace reached: coverage of kernels by a program, such as a test run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dispatch_cli.answers.trace.view import TraceView
from dispatch_cli.engine.call.trace import Hop
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.declarations import Fallback, Implement, Step
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL
from dispatch_cli.trace.explained import Explained


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


_Which = tuple[str, str]
"""An operator and a key; backend fallbacks have no operator."""


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
