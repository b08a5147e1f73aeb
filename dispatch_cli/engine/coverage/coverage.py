"""Classifies the operators of a dispatcher by what serves them on a backend.

Operators with kernels at the same keys, of which the same fall through, share their answer. What tells operators apart
beyond that is whether they take tensors (`Reach`), and the few kernels of which more is known (`kernels`).
"""

from __future__ import annotations

from typing import NamedTuple

from dispatch_cli.engine.coverage.answers import (
    Covered,
    CoveredBackend,
    Gradient,
    NoService,
    Reach,
    Service,
    Training,
    takes_tensors,
)
from dispatch_cli.engine.coverage.kernels import Special, special
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.autograd import autograd_keys_of
from dispatch_cli.engine.keys.layout import KeyLayout, layout_of
from dispatch_cli.engine.rules import Decision, Rule
from dispatch_cli.engine.table.table import Plan, plan
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import BACKEND_SELECT, META, UNDEFINED

_DECOMPOSES = frozenset({Rule.MATH, Rule.NESTED})
_COMPOSITE = frozenset({Rule.DEFAULT, Rule.MATH, Rule.NESTED})


class SlotView(NamedTuple):
    """A slot of a table. skips: dispatch passes it. raises: its kernel only raises an error.

    computes: its kernel, at a key above the backend's, computes the result.
    """

    key: str
    rule: Rule
    source: str | None
    blockers: int
    skips: bool
    raises: bool
    computes: bool

    @property
    def is_empty(self) -> bool:
        """True if a call that comes here is an error."""
        return self.rule in (Rule.MISSING, Rule.AMBIGUOUS)


class CoveredShape(NamedTuple):
    """Properties that operators with the same answer share."""

    registered: int
    skipped: frozenset[str]
    reach: Reach
    special: Special


class Classifier:
    """Classifies operators for one backend.

    bits: the registered keys that decide an answer; shapes that differ in others alone share it.
    """

    def __init__(self, dispatcher: Dispatcher, backend: CoveredBackend) -> None:
        self.dispatcher = dispatcher
        self.universe = dispatcher.universe
        self.backend = backend
        self._autograd = autograd_keys_of(self.universe, backend.key)
        self._covered: dict[CoveredShape, Covered] = {}
        keys = (backend.key, *self._autograd, BACKEND_SELECT, UNDEFINED, *self.universe.default_included)
        slots = {self.universe.slot[key] for key in keys if key in self.universe.slot}
        self.bits = 0
        for candidate in (candidate for slot in slots for candidate in dispatcher.layout.candidates[slot]):
            self.bits |= candidate.bits | candidate.closed

    def of(self, name: OperatorName) -> Covered:
        """The kernel that serves an operator. Errors: Refused for an unknown operator."""
        shape = self.shape(name)
        stale = {} if shape is None else self.dispatcher.stale_slots(name)
        if shape is None or not stale:
            return self.of_shape(shape)
        lives = {key: (entry.live.decision, entry.live.is_fallthrough) for key, entry in stale.items()}
        return _Deciding(self, shape, lives).answer()

    def shape(self, name: OperatorName) -> CoveredShape | None:
        """All that decides what serves an operator on any backend, unless its live table is stale.

        None for an operator that is not defined. Errors: Refused for an unknown operator.
        """
        dispatcher = self.dispatcher
        registered, skipped = dispatcher.shape(name)
        schema = dispatcher.header(name).schema
        if schema is None:
            return None
        known = special(dispatcher, name, registered)
        return CoveredShape(registered, skipped, self._reach(schema, registered, skipped), known)

    def of_shape(self, shape: CoveredShape | None) -> Covered:
        """The kernel that serves operators of a shape whose live tables are not stale."""
        if shape is None:
            return self._undefined()
        part = shape._replace(registered=shape.registered & self.bits)
        covered = self._covered.get(part)
        if covered is None:
            covered = self._covered[part] = self._decided(shape)
        return covered

    def _decided(self, shape: CoveredShape) -> Covered:
        covered = _Deciding(self, shape, {}).answer()
        if covered.service is not Service.NOT_KNOWN:
            return covered
        complete = layout_of(self.universe)
        known = shape._replace(registered=shape.registered & ~self.dispatcher.layout.closed)
        return covered._replace(otherwise=_Deciding(self, known, {}, complete).answer().service)

    def _reach(self, schema: str, registered: int, skipped: frozenset[str]) -> Reach:
        if takes_tensors(schema):
            return Reach.TENSORS
        has_select = registered & self.dispatcher.layout.registered_bit[BACKEND_SELECT]
        return Reach.DEVICE if has_select and BACKEND_SELECT not in skipped else Reach.NOT

    def _undefined(self) -> Covered:
        return Covered(
            *(Service.NOTHING, Reach.NOT, self.backend.key, Rule.MISSING, None, NoService.NO_SCHEMA),
            *(Training.NO_TENSORS, None, None, None, (), False),
        )


class _Deciding:
    """One shape of operators on one backend."""

    def __init__(
        self,
        by: Classifier,
        shape: CoveredShape,
        stale: dict[str, tuple[Decision, bool]],
        layout: KeyLayout | None = None,
    ) -> None:
        self.by = by
        self.shape = shape
        self.stale = stale
        self.universe = by.universe
        self.plan: Plan = plan(layout or by.dispatcher.layout, shape.registered, by.dispatcher.fallback_bits)

    def slot(self, key: str) -> SlotView:
        """A slot of the live table."""
        fallbacks = self.by.dispatcher.fallbacks
        if key in self.stale:
            decision, skips = self.stale[key]
        else:
            decision = self.plan.decisions[self.universe.slot[key]]
            skips = (
                decision.source in self.shape.skipped
                if decision.source is not None
                else decision.rule is Rule.FALLBACK and fallbacks[key].kernel.fallthrough
            )
        source = key if decision.rule is Rule.FALLBACK else decision.source
        known = self.shape.special
        raises = decision.source in known.raising
        if decision.rule is Rule.FALLBACK:
            raises = key == META if self.is_core(key) else _raises(self.by.dispatcher, key)
        computes = decision.source in known.computing
        return SlotView(key, decision.rule, source, decision.blockers, skips, raises, computes)

    def is_core(self, key: str) -> bool:
        """True if the backend fallback at a key is PyTorch's own."""
        return self.universe.own_fallbacks.get(key) == self.by.dispatcher.fallbacks[key].kernel.debug

    def answer(self) -> Covered:
        backend = self.slot(self.by.backend.key)
        above = self.first_autograd() if self.shape.reach is Reach.TENSORS else None
        served, lack = self.server(backend, above)
        training, gradient = self.training(served, above)
        service = _service(served, lack, self.by.backend.key)
        gradient = None if service in (Service.NOTHING, Service.NOT_KNOWN) else gradient
        bypassed = (
            above is not None
            and service is not Service.NOT_KNOWN
            and above.rule in _DECOMPOSES
            and not above.skips
            and lack is None
            and service is not Service.ABOVE
            and served.source != above.source
        )
        return Covered(
            service=service,
            reach=self.shape.reach,
            slot=served.key,
            rule=served.rule,
            source=served.source,
            lack=lack,
            training=training,
            autograd_rule=None if above is None else above.rule,
            autograd_source=None if above is None else above.source,
            gradient=gradient,
            blockers=() if above is None else self.by.dispatcher.keys_in(above.blockers),
            bypassed=bypassed,
        )

    def first_autograd(self) -> SlotView | None:
        """The slot of the highest autograd key that a call stops at; of the last one, where all are skipped."""
        slot = None
        for key in self.by._autograd:
            slot = self.slot(key)
            if not slot.skips:
                break
        return slot

    def server(self, backend: SlotView, above: SlotView | None) -> tuple[SlotView, NoService | None]:
        """The slot whose kernel serves a call, or at which the call ends in an error, and why."""
        if self.shape.reach is Reach.NOT:
            return self.without_backend(NoService.NO_TENSORS)
        select = self.slot(BACKEND_SELECT)
        if select.computes and not select.skips:
            return select, None
        if above is not None and not above.skips and above.computes:
            return above, None
        if backend.rule is Rule.NOT_KNOWN:
            return backend, None
        if backend.skips and self.shape.reach is Reach.DEVICE:
            return backend, NoService.SKIPPED  # BackendSelect redispatches to the key itself, where none is skipped
        if backend.skips:
            return self.without_backend(NoService.SKIPPED)
        if backend.is_empty:
            if above is not None and not above.skips and above.rule in _DECOMPOSES:
                return above, None
            return backend, NoService.MISSING
        return backend, NoService.RAISES if backend.raises else None

    def without_backend(self, lack: NoService) -> tuple[SlotView, NoService | None]:
        """Outcome of a call whose keys all fall through. lack: the reason for the error where nothing is there."""
        last = self.slot(UNDEFINED)
        if self.shape.reach is Reach.NOT:
            stops = (self.slot(key) for key in self.by.universe.default_included if key in self.universe.slot)
            last = next((stop for stop in stops if not stop.skips and stop.computes), last)
        if last.is_empty or last.skips:
            return last, lack
        return last, NoService.RAISES if last.raises else None

    def training(self, served: SlotView, above: SlotView | None) -> tuple[Training, Gradient | None]:
        """Outcome of a call that requires a gradient, at the autograd key."""
        if self.shape.reach is not Reach.TENSORS:
            return Training.NO_TENSORS, None
        composite = served.rule in _COMPOSITE
        if above is None or above.skips:
            return Training.NONE, Gradient.DECOMPOSED if composite else Gradient.DROPPED
        if above.rule is Rule.NOT_KNOWN:
            return Training.NOT_KNOWN, None
        if above.is_empty:
            return Training.BROKEN, None
        if above.rule is Rule.FALLBACK:
            if not self.is_core(above.key):
                return Training.NONE, Gradient.FALLBACK
            return Training.NONE, Gradient.DECOMPOSED_WITH_WARNING if composite else Gradient.WARNING
        if above.rule is Rule.KERNEL:
            return Training.OWN, None
        return Training.GENERIC if above.rule is Rule.AUTOGRAD else Training.MATH, None


def _service(served: SlotView, lack: NoService | None, key: str) -> Service:
    if lack is not None:
        return Service.NOTHING
    if served.rule is Rule.NOT_KNOWN:
        return Service.NOT_KNOWN
    if served.key not in (key, UNDEFINED):
        return Service.ABOVE
    if served.rule is Rule.FALLBACK:
        return Service.FALLBACK
    return Service.KERNEL if served.rule is Rule.KERNEL else Service.COMPOSITE


def _raises(dispatcher: Dispatcher, key: str) -> bool:
    """True if a declared fallback says that it only raises an error."""
    from dispatch_cli.model.kernel import RedispatchKind

    redispatch = dispatcher.fallbacks[key].kernel.redispatches
    return redispatch is not None and redispatch.kind is RedispatchKind.RAISES
