"""Classifies the operators of a dispatcher by what serves them on a backend.

An answer depends on the live table of the operator, on whether it takes tensors (`Reach`), and on the few kernels of
which more is known than their keys.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache

from dispatch_cli.engine.backend_answers import (
    Covered,
    CoveredBackend,
    Gradient,
    NoService,
    Reach,
    Service,
    Training,
)
from dispatch_cli.engine.call.kernels.own_kernels import RAISES, does, place_of
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.registration import Registration, schema_text_takes_tensors
from dispatch_cli.engine.table.table import TableEntry, is_core_fallback
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import (
    AUTOGRAD,
    BACKEND_SELECT,
    META,
    UNDEFINED,
    Universe,
    autograd_key_of,
    autograd_keys_of,
)

_DECOMPOSES = frozenset({Rule.MATH, Rule.NESTED})
_COMPOSITE = frozenset({Rule.DEFAULT, Rule.MATH, Rule.NESTED})
_COMPUTES = "computes"
_COMPUTE = (RedispatchKind.NO, RedispatchKind.OTHER_OPERATORS)
_TRACER = "Tracer"


class OperatorSlots:
    """The live table of an operator, and what is known of its kernels. Errors: Refused for an unknown operator.

    raising: the keys whose kernels only raise an error. computing: those whose kernels, above the backends, compute the
    result. likeness: equal for operators that are served in the same way on every backend.
    """

    def __init__(self, dispatcher: Dispatcher, name: OperatorName) -> None:
        self.schema = dispatcher.header(name).schema
        self.table = dispatcher.live_table(name)
        active = self.table.active
        falling = frozenset([key for key, registration in active.items() if registration.kernel.fallthrough])
        effects = {key: _effect(registration, str(name)) for key, registration in active.items()}
        self.raising = frozenset([key for key, effect in effects.items() if effect == RAISES])
        self.computing = frozenset([key for key, effect in effects.items() if effect == _COMPUTES])
        above, below = _above_and_below(dispatcher.universe)
        if not above.isdisjoint(active) and below.isdisjoint(active):
            # nothing is there that they could redispatch to
            self.computing |= above.difference(key for key in active if _goes_on(active[key]))
        self.reach = Reach.TENSORS
        if self.schema is not None and not schema_text_takes_tensors(self.schema):
            self.reach = Reach.DEVICE if BACKEND_SELECT in active.keys() - falling else Reach.NOT
        likeness = (self.table.plan, falling, self.reach, self.raising, self.computing)
        self.likeness: Hashable = None if self.schema is None else likeness


def _effect(registration: Registration, name: str) -> str | None:
    """The effect of a kernel that raises, or computes where others go on.

    What a captured state says of its kernels counts for calls: whether an operator was looked at changes nothing here.
    """
    key, kernel = registration.key, registration.kernel
    own = does(place_of(kernel.debug, key, name)).what
    if own == RAISES or (own == _COMPUTES and key == BACKEND_SELECT):
        return own
    if registration.captured:
        return None
    if kernel.redispatches is not None:
        kind = kernel.redispatches.kind
        return RAISES if kind is RedispatchKind.RAISES else _COMPUTES if kind in _COMPUTE else None
    return RAISES if key == META and kernel.fake is not None and kernel.fake.function is None else None


def _goes_on(registration: Registration) -> bool:
    """True if the kernel is declared to call another kernel of the operator."""
    redispatch = registration.kernel.redispatches
    return redispatch is not None and redispatch.kind not in (*_COMPUTE, RedispatchKind.RAISES)


@lru_cache(maxsize=16)
def _above_and_below(universe: Universe) -> tuple[frozenset[str], frozenset[str]]:
    """The autograd keys and BackendSelect, and the keys that kernels there redispatch to.

    Those that torchgen wrote redispatch in any case; they have one at Tracer, too.
    """
    composite = (alias for alias in universe.aliases if alias.startswith("Composite"))
    backends = (key for key in universe.runtime if key != META and autograd_key_of(universe, key) is not None)
    above = frozenset((AUTOGRAD, *universe.covered_by(AUTOGRAD), BACKEND_SELECT))
    return above, frozenset((*composite, *backends, _TRACER))


class Classifier:
    """Classifies operators for one backend."""

    def __init__(self, dispatcher: Dispatcher, backend: CoveredBackend) -> None:
        self._dispatcher = dispatcher
        self._backend = backend

    def of(self, name: OperatorName) -> Covered:
        """The kernel that serves an operator. Errors: Refused for an unknown operator."""
        return self.of_slots(OperatorSlots(self._dispatcher, name))

    def of_slots(self, slots: OperatorSlots) -> Covered:
        """The same for the slots of an operator."""
        if slots.schema is None:
            return Covered(
                *(Service.NOTHING, Reach.NOT, self._backend.key, Rule.MISSING, None, NoService.NO_SCHEMA),
                *(Training.NO_SCHEMA, None, None, None, (), False),
            )
        covered = _Deciding(self._dispatcher, self._backend.key, slots).answer()
        if covered.service is not Service.NOT_KNOWN:
            return covered
        known = _Deciding(self._dispatcher, self._backend.key, slots, only_known=True).answer()
        return covered._replace(otherwise=known.service)


class _Deciding:
    """One operator on one backend. only_known: as if it had no kernels but those that are known."""

    def __init__(self, dispatcher: Dispatcher, key: str, slots: OperatorSlots, only_known: bool = False) -> None:
        self.dispatcher = dispatcher
        self.universe = dispatcher.universe
        self.key = key
        self.slots = slots
        self.only_known = only_known

    def slot(self, key: str) -> TableEntry:
        """A slot of the live table."""
        entry = self.slots.table[key]
        return entry.otherwise or entry if self.only_known else entry

    def computes(self, entry: TableEntry) -> bool:
        """True if a call stops at the slot, whose kernel computes the result, at a key above the backend's."""
        return entry.decision.source in self.slots.computing and not entry.is_fallthrough

    def raises(self, entry: TableEntry) -> bool:
        """True if the kernel only raises an error."""
        if entry.rule is not Rule.FALLBACK:
            return entry.decision.source in self.slots.raising
        if is_core_fallback(self.universe, entry):
            return entry.key == META
        redispatch = None if entry.kernel is None else entry.kernel.redispatches
        return redispatch is not None and redispatch.kind is RedispatchKind.RAISES

    def answer(self) -> Covered:
        reach = self.slots.reach
        above = self.first_autograd() if reach is Reach.TENSORS else None
        served, lack = self.server(self.slot(self.key), above)
        training, gradient = self.training(served, above)
        service = _service(served, lack, self.key)
        bypassed = (
            above is not None
            and service not in (Service.NOT_KNOWN, Service.ABOVE)
            and above.rule in _DECOMPOSES
            and not above.is_fallthrough
            and lack is None
            and _source(served) != above.decision.source
        )
        return Covered(
            service=service,
            reach=reach,
            slot=served.key,
            rule=served.rule,
            source=_source(served),
            lack=lack,
            training=training,
            autograd_rule=None if above is None else above.rule,
            autograd_source=None if above is None else _source(above),
            gradient=None if service in (Service.NOTHING, Service.NOT_KNOWN) else gradient,
            blockers=() if above is None else self.dispatcher.keys_in(above.decision.blockers),
            bypassed=bypassed,
        )

    def first_autograd(self) -> TableEntry | None:
        """The slot of the highest autograd key that a call stops at; of the last one, where all are skipped."""
        slots = [self.slot(key) for key in autograd_keys_of(self.universe, self.key)]
        return next((slot for slot in slots if not slot.is_fallthrough), slots[-1] if slots else None)

    def server(self, backend: TableEntry, above: TableEntry | None) -> tuple[TableEntry, NoService | None]:
        """The slot whose kernel serves a call, or at which the call ends in an error, and why."""
        if self.slots.reach is Reach.NOT:
            return self.without_backend(NoService.NO_TENSORS)
        stops = (entry for entry in (self.slot(BACKEND_SELECT), above) if entry is not None and self.computes(entry))
        if (stop := next(stops, None)) is not None:
            return stop, None
        if backend.rule is Rule.NOT_KNOWN:
            return backend, None
        if backend.is_fallthrough and self.slots.reach is Reach.DEVICE:
            return backend, NoService.SKIPPED  # BackendSelect redispatches to the key itself, where none is skipped
        if backend.is_fallthrough:
            return self.without_backend(NoService.SKIPPED)
        if _is_empty(backend):
            if above is not None and not above.is_fallthrough and above.rule in _DECOMPOSES:
                return above, None
            return backend, NoService.MISSING
        return backend, NoService.RAISES if self.raises(backend) else None

    def without_backend(self, lack: NoService) -> tuple[TableEntry, NoService | None]:
        """Outcome of a call whose keys all fall through. lack: the reason for the error where nothing is there."""
        last = self.slot(UNDEFINED)
        if self.slots.reach is Reach.NOT:
            last = next(filter(self.computes, self._included()), last)
        if _is_empty(last) or last.is_fallthrough:
            return last, lack
        return last, NoService.RAISES if self.raises(last) else None

    def _included(self) -> Iterator[TableEntry]:
        """The slots of the keys that every call has."""
        return (self.slot(key) for key in self.universe.default_included if key in self.universe.slot)

    def training(self, served: TableEntry, above: TableEntry | None) -> tuple[Training, Gradient | None]:
        """Outcome of a call that requires a gradient, at the autograd key."""
        if self.slots.reach is not Reach.TENSORS:
            return Training.NO_TENSORS, None
        composite = served.rule in _COMPOSITE
        if above is None or above.is_fallthrough:
            return Training.NONE, Gradient.DECOMPOSED if composite else Gradient.DROPPED
        if above.rule is Rule.NOT_KNOWN:
            return Training.NOT_KNOWN, None
        if _is_empty(above):
            return Training.BROKEN, None
        if above.rule is Rule.FALLBACK:
            if not is_core_fallback(self.universe, above):
                return Training.NONE, Gradient.FALLBACK
            return Training.NONE, Gradient.DECOMPOSED_WITH_WARNING if composite else Gradient.WARNING
        if above.rule is Rule.KERNEL:
            return Training.OWN, None
        return Training.GENERIC if above.rule is Rule.AUTOGRAD else Training.MATH, None


def _is_empty(entry: TableEntry) -> bool:
    """True if a call that comes here is an error."""
    return entry.rule in (Rule.MISSING, Rule.AMBIGUOUS)


def _source(entry: TableEntry) -> str | None:
    return entry.key if entry.rule is Rule.FALLBACK else entry.decision.source


def _service(served: TableEntry, lack: NoService | None, key: str) -> Service:
    if lack is not None:
        return Service.NOTHING
    if served.rule is Rule.NOT_KNOWN:
        return Service.NOT_KNOWN
    if served.key not in (key, UNDEFINED):
        return Service.ABOVE
    if served.rule is Rule.FALLBACK:
        return Service.FALLBACK
    return Service.KERNEL if served.rule is Rule.KERNEL else Service.COMPOSITE
