"""A recording with what the engine says of its calls: the paths that they take, and which look alike."""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli import bases
from dispatch_cli.engine.call.trace import Does, EndKind, Hop
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import is_core_fallback
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.text.debug_text import registered_place, source_file
from dispatch_cli.trace.explained import Explained, Explainer
from dispatch_cli.trace.facts import is_fallback
from dispatch_cli.trace.happened import Happened, has_kernel, is_seen
from dispatch_cli.trace.recording import NONE, Recording
from dispatch_cli.trace.selected import CallFacts, Selected, Wanted, select
from dispatch_cli.trace.state import RegistrationsKnown


class TraceKernel(NamedTuple):
    """A kernel of a call.

    key: the slot that it is in. source: the key that it is registered at, where that is another. kernel: its name or
    debug text. registered_at: a place, ``FILE:LINE``, where that is known. fallback: it is a backend fallback in the
    place of a kernel of the operator. observed: its key was seen, and the kernel is what the operator's table
    held there at the time; otherwise the engine predicts it.
    """

    key: str
    rule: Rule
    source: str | None
    kernel: str | None
    registered_at: str | None
    does: Does
    fallback: bool
    observed: bool


class TracePath(NamedTuple):
    """Path of the calls of one signature through the kernels.

    kernels: those that run, up to one that calls the operator again, which is a call of its own; of a call that did not
    return, those that are known to have run. skipped: the keys whose entries fell through. excluded: those that the
    thread excludes and a fresh one would not. end: how the call ends, as the engine says, or as was observed; handler:
    the class that gets it then, where that is known. problem: why nothing can be said.
    """

    kernels: tuple[TraceKernel, ...]
    skipped: tuple[str, ...]
    excluded: tuple[str, ...]
    end: EndKind | None
    handler: str | None
    problem: str | None


class TraceView:
    """A recording with all that is computed from it. Explanations are made as they are asked for."""

    def __init__(self, recording: Recording, known: RegistrationsKnown) -> None:
        self.recording = recording
        self.known = known
        self.state = known.state
        self.explainer = Explainer(recording, known.state)
        self.happened = Happened(self.explainer)
        self.facts = CallFacts(recording, self.happened, known.state.dispatcher.universe)
        self._paths: dict[int, TracePath] = {}
        self._kinds: dict[object, int] = {}
        self._shown: dict[int, int] = {}

    def select(self, wanted: Wanted) -> Selected:
        """The calls that are asked for."""
        return select(self.recording, wanted, self.facts)

    def path_of(self, number: int) -> TracePath:
        """Path of calls with a number of `Happened`."""
        path = self._paths.get(number)
        if path is None:
            path = self._paths[number] = _path(self.happened.of_number(number))
        return path

    def path(self, call: int) -> TracePath:
        """Path of a call: what was observed, and what is predicted beside that."""
        return self.path_of(self.happened.number_of(call))

    def parts_after(self, call: int) -> Hop | None:
        """The kernel after which what was observed is not what is predicted; None where that is the first kernel."""
        difference = self.happened.difference(call)
        hops = [hop for hop in self.explainer.of_call(call).hops if is_seen(hop)]
        return hops[difference.at - 1] if difference is not None and difference.at else None

    def is_of_pytorch(self, operator: str, hop: Hop) -> bool:
        """True if a kernel is one that the embedded state of that version has."""
        if self.known.is_base or is_core_fallback(self.state.dispatcher.universe, hop.live):
            return True
        registration, kernel = hop.live.registration, hop.live.kernel
        source = bases.load(self.known.base)
        if registration is None or kernel is None or hop.live.rule is Rule.FALLBACK:
            return False
        name, dispatcher = OperatorName.parse(operator), Dispatcher(source.universe, base=source)
        known = dispatcher.active(name).get(registration.key) if name in dispatcher else None
        return known is not None and source_file(known.kernel.debug) == source_file(kernel.debug)

    def calls_again(self, call: int) -> bool:
        """True if one of the calls right inside of a call is of the same operator."""
        return self.happened.again(call) != NONE

    def kind(self, call: int) -> int:
        """A number for all calls that look alike: the same operator, kernels, line, end and facts."""
        calls = self.recording.calls
        number = self.happened.number_of(call)
        shown = self._shown.get(number)
        if shown is None:
            path = self.path(call)
            kernels = tuple((each.key, each.kernel, each.does, each.fallback) for each in path.kernels)
            look = (self.recording.operator_of(call), kernels, path.end, path.handler, path.problem)
            shown = self._shown[number] = self._kinds.setdefault(look, len(self._kinds))
        forward = self.recording.forward_of(call)
        place = NONE if forward is None else calls.place[forward]
        seen = (
            shown,
            calls.place[call],
            place,
            self.happened.ended_as(call),
            self.calls_again(call),
            self.happened.difference(call),
            self.facts.of_call(call),
        )
        return self._kinds.setdefault(seen, len(self._kinds))


def registered_at(kernel: Kernel | None) -> str | None:
    """Place at which a kernel is registered, or that of its Python function."""
    if kernel is None:
        return None
    if kernel.wraps is not None and kernel.wraps.place is not None:
        return kernel.wraps.place
    if kernel.fake is not None and kernel.fake.source is not None:
        return kernel.fake.source
    if kernel.span is not None:
        return str(kernel.span)
    return registered_place(kernel.debug)


def _path(explained: Explained) -> TracePath:
    selection, end = explained.selection, explained.end
    if selection is None or end is None:
        return TracePath((), (), (), None, None, explained.problem)
    universe = selection.keyset.layout.universe
    usual = {universe.runtime_parts[key][0] for key in universe.default_excluded}
    excluded = tuple(
        key
        for key in reversed([*(selection.keyset | selection.included)])
        if selection.excluded.has(universe.runtime_parts[key][0]) and universe.runtime_parts[key][0] not in usual
    )
    kernels = tuple(
        _kernel(hop, is_fallback(hop, universe), number < explained.seen)
        for number, hop in enumerate(explained.hops)
        if has_kernel(hop)
    )
    handler = None if end.handler is None else end.handler.name or None
    return TracePath(kernels, selection.skipped, excluded, end.kind, handler, None)


def _kernel(hop: Hop, fallback: bool, observed: bool) -> TraceKernel:
    decision, kernel = hop.live.decision, hop.live.kernel
    source = decision.source if decision.source != hop.slot else None
    name = None if kernel is None else kernel.label
    if hop.python is not None and hop.python.kernel is not None:
        return TraceKernel(hop.slot, hop.python.rule, None, hop.python.kernel, None, hop.does, False, observed)
    return TraceKernel(hop.slot, decision.rule, source, name, registered_at(kernel), hop.does, fallback, observed)
