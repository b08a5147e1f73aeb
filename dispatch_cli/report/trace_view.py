"""A recording with what the engine says of its calls: the paths that they take, and which look alike."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from dispatch_cli.engine.call.trace import Does, EndKind, Hop
from dispatch_cli.engine.rules import Rule
from dispatch_cli.model.debug_text import registered_place
from dispatch_cli.model.kernel import Kernel
from dispatch_cli.trace.backward import Backward
from dispatch_cli.trace.calls import NONE, RAISED
from dispatch_cli.trace.chain import Difference, difference
from dispatch_cli.trace.explained import Explained, Explainer
from dispatch_cli.trace.facts import FallbackKind, fallbacks
from dispatch_cli.trace.recording import Recording
from dispatch_cli.trace.selected import CallFacts, Selected, Wanted, select
from dispatch_cli.trace.state import RegistrationsKnown

_MAIN = "MainThread"
"""What Python calls the thread that runs the program."""


_GOES_ON = ("fork", "partial")
"""Reasons why something is not recorded, after which the recording goes on to the end of the program."""


class CallEnd(Enum):
    """How a call ended."""

    RETURNED = "returned"
    RAISED = "raised"
    UNFINISHED = "unfinished"
    """Its end is not recorded."""


class TraceKernel(NamedTuple):
    """A kernel of a call.

    key: the slot that it is in. source: the key that it is registered at, where that is another. kernel: its name or
    debug text. registered_at: a place, ``FILE:LINE``, where that is known. fallback: which, of a backend fallback in
    the place of a kernel of the operator. observed: it was seen to run; otherwise the engine predicts it.
    """

    key: str
    rule: Rule
    source: str | None
    kernel: str | None
    registered_at: str | None
    does: Does
    fallback: FallbackKind | None
    observed: bool


class TracePath(NamedTuple):
    """What calls of one signature do.

    skipped: the keys whose entries fell through. excluded: those that the thread excludes and a fresh one would not.
    end: how the call ends, as the engine says; handler: the class that gets it then, where that is known.
    problem: why nothing can be said.
    """

    kernels: tuple[TraceKernel, ...]
    skipped: tuple[str, ...]
    excluded: tuple[str, ...]
    end: EndKind | None
    handler: str | None
    problem: str | None

    @property
    def own(self) -> tuple[TraceKernel, ...]:
        """The kernels up to one that calls the operator again, which is a call of its own."""
        again = next((at for at, one in enumerate(self.kernels) if one.does is Does.CALLS_ANEW), len(self.kernels))
        return self.kernels[: again + 1]


class TraceView:
    """A recording with all that is computed from it. Explanations are made as they are asked for."""

    def __init__(self, recording: Recording, known: RegistrationsKnown) -> None:
        self.recording = recording
        self.known = known
        self.state = known.state
        self.explainer = Explainer(recording, known.state, known.not_known)
        self.facts = CallFacts(recording, self.explainer, known.state)
        self.backward = Backward(recording, self.explainer)
        self._paths: dict[int, TracePath] = {}
        self._kinds: dict[object, int] = {}
        self._shown: dict[int, int] = {}
        self._again: bytearray | None = None
        names = recording.threads
        is_whole = recording.end is not None and all(one.reason in _GOES_ON for one in recording.stopped)
        self._main = names.index(_MAIN) if is_whole and _MAIN in names else None
        """The thread whose calls have all ended, where the recording goes as far as that."""

    @property
    def base(self) -> str:
        """The embedded state of the program's version of PyTorch, or the newest one."""
        return self.known.base

    def select(self, wanted: Wanted) -> Selected:
        """The calls that are asked for."""
        return select(self.recording, wanted, self.explainer, self.facts, self.state)

    def path_of(self, signature: int) -> TracePath:
        """What calls of a signature do."""
        path = self._paths.get(signature)
        if path is None:
            path = self._paths[signature] = _path(self.explainer.of_signature(signature))
        return path

    def path(self, call: int) -> TracePath:
        """What a call does, with the kernels that were seen to run in the place of those that are predicted."""
        signature = self.recording.calls.signature[call]
        path = self.path_of(signature)
        ran = self.recording.kernels.get(call)
        if not ran:
            return path
        found = self.difference(call)
        at = len(path.kernels) if found is None else found.at
        return path._replace(kernels=tuple(one._replace(observed=True) for one in path.kernels[:at]))

    def difference(self, call: int) -> Difference | None:
        """Where the kernels that ran part from those that are predicted; None where they were not recorded, too."""
        ran = self.recording.kernels.get(call)
        return None if not ran else difference(self.explainer.of_call(call), ran, self.state.dispatcher)

    def ended_as(self, call: int) -> CallEnd:
        """How a call ended. One that was still open when the program itself had ended, raised what ended it."""
        calls = self.recording.calls
        if calls.end[call] == NONE:
            return CallEnd.RAISED if calls.thread[call] == self._main else CallEnd.UNFINISHED
        return CallEnd.RAISED if calls.raised[call] == RAISED else CallEnd.RETURNED

    def calls_again(self, call: int) -> bool:
        """Whether one of the calls right inside of a call is of the same operator."""
        if self._again is None:
            self._again = again = bytearray(len(self.recording.calls))
            operators = [one["operator"] for one in self.recording.signatures]
            calls = self.recording.calls
            for signature, parent in zip(calls.signature, calls.parent, strict=True):
                if parent != NONE and operators[signature] == operators[calls.signature[parent]]:
                    again[parent] = 1
        return bool(self._again[call])

    def kind(self, call: int) -> int:
        """A number for all calls that look alike: the same operator, kernels, line and end."""
        calls = self.recording.calls
        signature = calls.signature[call]
        shown = self._shown.get(signature)
        if shown is None:
            path = self.path(call)
            keys = tuple((one.key, one.does, one.fallback) for one in path.kernels)
            look = (self.recording.signatures[signature]["operator"], keys, path.end, path.handler, path.problem)
            shown = self._shown[signature] = self._kinds.setdefault(look, len(self._kinds))
        forward = self.backward.forward_of(call)
        place = NONE if forward is None else calls.place[forward]
        found = self.difference(call) if call in self.recording.kernels else None
        seen = (shown, calls.place[call], place, self.ended_as(call), self.calls_again(call), found)
        return self._kinds.setdefault(seen, len(self._kinds))


def registered_at(kernel: Kernel | None) -> str | None:
    """Where a kernel is registered, or the Python function of it is."""
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
    as_fallback = {id(hop): kind for hop, kind in fallbacks(explained.hops, universe)}
    usual = {universe.runtime_parts[key][0] for key in universe.default_excluded}
    excluded = tuple(
        key
        for key in reversed([*(selection.keyset | selection.included)])
        if selection.excluded.has(universe.runtime_parts[key][0]) and universe.runtime_parts[key][0] not in usual
    )
    kernels = tuple(
        _kernel(hop, as_fallback.get(id(hop)), is_first=not number)
        for number, hop in enumerate(explained.hops)
        if hop.live.kernel is not None or hop.python is not None
    )
    return TracePath(
        kernels, selection.skipped, excluded, end.kind, None if end.handler is None else end.handler.name or None, None
    )


def _kernel(hop: Hop, fallback: FallbackKind | None, is_first: bool) -> TraceKernel:
    decision, kernel = hop.live.decision, hop.live.kernel
    source = decision.source if decision.source != hop.slot else None
    name = None if kernel is None else kernel.label
    if hop.python is not None and hop.python.kernel is not None:
        return TraceKernel(hop.slot, hop.python.rule, None, hop.python.kernel, None, hop.does, None, is_first)
    return TraceKernel(
        hop.slot, decision.rule, source, name, registered_at(kernel), hop.does, fallback, observed=is_first
    )
