"""Findings over a trace: what its calls reached that is slow, loses gradients, or is not what was registered."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from dispatch_cli.answers.trace.view import TraceView, registered_at
from dispatch_cli.engine.call.gradient import GradientLoss
from dispatch_cli.engine.call.trace import Does, Hop, Why
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.universe import BACKEND_SELECT, META
from dispatch_cli.trace.explained import Explained
from dispatch_cli.trace.facts import gradient_loss, is_fallback, is_stale
from dispatch_cli.trace.recording import NONE, PythonPlace
from dispatch_cli.trace.selected import Selected

MAX_PLACES = 5
"""Lines of Python that a finding names."""


class TraceFindingKind(Enum):
    """Kind of a finding; the value is the name in machine formats."""

    FALLBACK = "fallback"
    """A backend fallback ran."""
    NO_GRADIENT = "no-gradient"
    """A tensor wanted gradients, the operator has no autograd kernel, or one without a backward, and nothing inside of
    the call records one."""
    DECOMPOSES = "decomposes"
    """The operator was taken apart for this backend, and has a kernel of its own at another one."""
    STALE = "stale"
    """The slot held another kernel than the registrations determine."""
    NOT_BY_CONVENTION = "not-by-convention"
    """A kernel that is not PyTorch's own does not redispatch, as is taken of it."""
    DIFFERENT = "different"
    """The kernels that ran are not those that the engine predicts."""


class TraceFinding(NamedTuple):
    """A finding about the calls of one operator.

    key: where; of DIFFERENT, that of the kernel that ran, empty if none did. calls: how many it is about; first: the
    number of the first. kernel, registered_at: what ran there; None of NO_GRADIENT, since something is missing there,
    and gradient says what follows.
    keys: of DECOMPOSES, where the operator has a kernel; of STALE, where the kernel is registered for which the slot
    was not computed anew; of NOT_BY_CONVENTION, the key of the kernel that is predicted next, if any; of DIFFERENT,
    that of the one that is predicted, if any.
    places: the lines of Python from which most come; more_places: how many others there are.
    """

    kind: TraceFindingKind
    operator: str
    key: str
    calls: int = 0
    first: int = 0
    kernel: str | None = None
    registered_at: str | None = None
    keys: tuple[str, ...] = ()
    gradient: GradientLoss | None = None
    places: tuple[PythonPlace, ...] = ()
    more_places: int = 0


class _CallsAbout:
    """The calls of a finding, as they are counted."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.count = 0
        self.places: dict[int, int] = {}

    def add(self, place: int) -> None:
        self.count += 1
        if place != NONE:
            self.places[place] = self.places.get(place, 0) + 1


def trace_findings(view: TraceView, chosen: Selected) -> tuple[TraceFinding, ...]:
    """The findings, by kind, those with the most calls first."""
    calls = view.recording.calls
    known: dict[int, tuple[TraceFinding, ...]] = {}
    calls_about: dict[TraceFinding, _CallsAbout] = {}
    for numbers in chosen.of_thread:
        for call in numbers:
            number = view.happened.number_of(call)
            abouts = known.get(number)
            if abouts is None:
                abouts = known[number] = tuple(dict.fromkeys(_of_calls(view.happened.of_number(number))))
            for about in abouts:
                if about.kind is TraceFindingKind.NO_GRADIENT and view.facts.gives_gradient(call):
                    continue
                calls_about.setdefault(about, _CallsAbout(call)).add(calls.place[call])
            if view.happened.difference(call) is not None:
                about = _different(view, call)
                calls_about.setdefault(about, _CallsAbout(call)).add(calls.place[call])
    order = [*TraceFindingKind]
    findings = [_finding(view, about, each) for about, each in calls_about.items()]
    return tuple(sorted(findings, key=lambda row: (order.index(row.kind), -row.calls, row.operator, row.key)))


def _finding(view: TraceView, about: TraceFinding, calls: _CallsAbout) -> TraceFinding:
    most = sorted(calls.places, key=lambda place: -calls.places[place])
    return about._replace(
        calls=calls.count,
        first=calls.first,
        places=tuple(view.recording.places[place] for place in most[:MAX_PLACES]),
        more_places=max(0, len(most) - MAX_PLACES),
    )


def _of_calls(explained: Explained) -> Iterator[TraceFinding]:
    """Findings about calls in which the same happened, without the calls."""
    universe, name = explained.state.dispatcher.universe, str(explained.operator)
    hops = explained.hops
    for hop in hops:
        if is_fallback(hop, universe):
            yield _about(TraceFindingKind.FALLBACK, name, hop)
    lost = gradient_loss(explained, universe)
    if lost is not None:
        yield TraceFinding(TraceFindingKind.NO_GRADIENT, name, lost.key, gradient=lost.loss)
    if hops and hops[-1].does is Does.DECOMPOSES and hops[-1].live.rule is Rule.MATH:
        others = _others(explained)
        if others:
            yield _about(TraceFindingKind.DECOMPOSES, name, hops[-1])._replace(keys=others)
    for hop in hops:
        if is_stale(hop):
            late = explained.state.dispatcher.stale_slots(explained.operator).get(hop.slot)
            keys = () if late is None else (late.cause.key,)
            yield _about(TraceFindingKind.STALE, name, hop)._replace(keys=keys)


def _about(kind: TraceFindingKind, name: str, hop: Hop) -> TraceFinding:
    kernel = hop.live.kernel
    return TraceFinding(
        kind, name, hop.slot, kernel=None if kernel is None else kernel.label, registered_at=registered_at(kernel)
    )


def _others(explained: Explained) -> tuple[str, ...]:
    """The keys of other backends at which an operator has a kernel that a call like this would reach.

    Not Meta: what is there finds out shapes, and computes nothing.
    """
    dispatcher, keyset = explained.state.dispatcher, explained.hops[-1].keyset
    names = dispatcher.universe.functionalities
    computing = names[: names.index(BACKEND_SELECT)] if BACKEND_SELECT in names else names
    group = next((dispatcher.universe.per_backend.get(key, ()) for key in reversed(computing) if keyset.has(key)), ())
    live = dispatcher.operator(explained.operator).live  # as it was in the call: others may be registered since
    entries = (live[key] for key in group if key != META)
    return tuple(entry.key for entry in entries if entry.decision.source == entry.key and not entry.is_fallthrough)


def _different(view: TraceView, call: int) -> TraceFinding:
    difference = view.happened.difference(call)
    assert difference is not None, "the caller has looked"
    name = view.recording.operator_of(call)
    hop = view.parts_after(call)
    predicted = () if difference.predicted is None else (difference.predicted,)
    if hop is not None and hop.why is Why.CONVENTION and not view.is_of_pytorch(name, hop):
        return _about(TraceFindingKind.NOT_BY_CONVENTION, name, hop)._replace(keys=predicted)
    return TraceFinding(TraceFindingKind.DIFFERENT, name, difference.ran or "", keys=predicted)
