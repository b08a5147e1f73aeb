"""Which kernels of the user's files a trace reached: coverage of kernels by a program, such as a test run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.declarations import Fallback, Implement, Step
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL
from dispatch_cli.report.trace_view import TraceView


class KernelReached(NamedTuple):
    """A kernel that files register, and how many calls of the trace ran it.

    operator: None for a backend fallback. key: where it is registered. span: where a file says so; also_at: where the
    same operator and key are registered as well, in another file or under another condition.
    """

    operator: str | None
    key: str
    kernel: str
    span: Span | None
    also_at: tuple[Span, ...]
    calls: int


def kernels_reached(view: TraceView, own: Sequence[Step]) -> tuple[KernelReached, ...]:
    """The kernels that the steps of files register, in their order. What only falls through is none."""
    counts = _counts(view)
    found: dict[tuple[str, str], KernelReached] = {}
    for step in own:
        if not isinstance(step, Implement | Fallback) or step.kernel.fallthrough:
            continue
        operator = str(step.operator) if isinstance(step, Implement) else ""
        key, span = step.dispatch_key or CATCH_ALL, step.kernel.span
        before = found.get((operator, key))
        if before is None:
            before = KernelReached(operator or None, key, step.kernel.label, span, (), counts[operator, key])
        elif span is not None and span not in (before.span, *before.also_at):
            before = before._replace(also_at=(*before.also_at, span))
        found[operator, key] = before
    return tuple(found.values())


def _counts(view: TraceView) -> Counter[tuple[str, str]]:
    """How many calls ran each registration; those of backend fallbacks have no operator."""
    counts: Counter[tuple[str, str]] = Counter()
    calls = view.recording.calls
    alike = Counter((signature, calls.returned(call)) for call, signature in enumerate(calls.signature))
    for (signature, returned), count in alike.items():
        explained = view.explainer.of_signature(signature)
        ran = {
            ("" if hop.live.rule is Rule.FALLBACK else str(explained.operator), hop.live.registration.key)
            for hop in explained.ran(returned)
            if hop.live.registration is not None
        }
        for one in ran:
            counts[one] += count
    return counts
