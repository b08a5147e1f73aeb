"""Which kernels of the user's files a trace reached: coverage of kernels by a program, such as a test run."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from dispatch_cli.engine.history.state import State
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.declarations import Fallback, Implement
from dispatch_cli.model.span import Span
from dispatch_cli.model.universe import CATCH_ALL
from dispatch_cli.report.trace_view import TraceView


class KernelReached(NamedTuple):
    """A kernel that a file registers, and how many calls of the trace ran it.

    operator: None for a backend fallback. key: where it is registered. span: where the file says so.
    """

    operator: str | None
    key: str
    kernel: str
    span: Span | None
    calls: int


def kernels_reached(view: TraceView, own: State) -> tuple[KernelReached, ...]:
    """The kernels that the files of a state register, in their order. What only falls through is none."""
    counts = _counts(view)
    found = {}
    for step in own.declarations.own_steps:
        if isinstance(step, Implement) and not step.kernel.fallthrough:
            operator, key = str(step.operator), step.dispatch_key or CATCH_ALL
            found[operator, key] = KernelReached(
                operator, key, step.kernel.label, step.kernel.span, counts[operator, key]
            )
        elif isinstance(step, Fallback) and not step.kernel.fallthrough:
            key = step.dispatch_key
            found["", key] = KernelReached(None, key, step.kernel.label, step.kernel.span, counts["", key])
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
