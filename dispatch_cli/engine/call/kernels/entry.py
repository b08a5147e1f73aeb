"""Step of the kernel in a slot, as far as its place and its origin tell."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.kernels import fallbacks as core
from dispatch_cli.engine.call.kernels import functorch, library_kernels
from dispatch_cli.engine.call.kernels.core_kernels import at_backend, core_kernel
from dispatch_cli.engine.call.options import is_factory, select_backend
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.trace import Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import TableEntry
from dispatch_cli.model.kernel import Redispatch, RedispatchKind
from dispatch_cli.model.universe import BACKEND_SELECT, FRONT, META, UNDEFINED, Universe


def as_declared(moment: Moment, declared: Redispatch) -> KernelStep:
    """Step of a kernel whose declaration has a field ``redispatches``. declared: that field."""
    why, universe = Why.DECLARED, moment.maker.universe
    step = library_kernels.declared(moment, declared.kind, why)
    if step is not None:
        return step
    match declared.kind:
        case RedispatchKind.NO:
            return ends(why)
        case RedispatchKind.BELOW_KEY:
            return redispatches(moment.below(moment.slot), why)
        case RedispatchKind.BELOW_AUTOGRAD:
            return redispatches(moment.below(universe.after_autograd), why)
        case RedispatchKind.TO:
            return redispatches(DispatchKeySet.of(universe, declared.keys), why)
        case RedispatchKind.EXCLUDE:
            return calls_anew(moment.thread.exclude(DispatchKeySet.of(universe, declared.keys)), why=why)
        case RedispatchKind.UNWRAPPED:
            return functorch.unwrapped(moment, why)
        case RedispatchKind.OTHER_OPERATORS:
            return decomposes(why)
        case RedispatchKind.RAISES:
            return raises(errors.raised_by_kernel(), why)


COMPOSITES = frozenset({Rule.MATH, Rule.NESTED, Rule.BATCHED})


def run(moment: Moment, dispatcher: Dispatcher) -> KernelStep:
    """Step of the kernel of the moment's entry, which has one."""
    entry, universe = moment.entry, moment.maker.universe
    if entry.rule is Rule.AMBIGUOUS:
        return raises(errors.ambiguous(dispatcher, moment.name), Why.NO_KERNEL)
    if entry.is_fallthrough:
        return raises(errors.fallthrough_called(), Why.NO_KERNEL)
    if entry.kernel is not None and entry.kernel.redispatches is not None:
        return as_declared(moment, entry.kernel.redispatches)
    if library_kernels.has_no_fake(entry.kernel):
        return library_kernels.without_fake(moment)
    if entry.kernel is not None and entry.kernel.wraps is not None:
        step = library_kernels.wrapped(moment, dispatcher, entry.kernel.wraps)
        if step is not None:
            return step
    if is_core_fallback(universe, entry):
        fallback = core.fallback_of(moment)
        if fallback is not None:
            return fallback(moment)
    if entry.rule in COMPOSITES:
        return decomposes(Why.COMPOSITE)
    if moment.slot == UNDEFINED or moment.slot in backend_keys(universe):
        return at_backend(moment)
    if moment.slot == FRONT:  # an operator is taken apart here, before any transform sees it
        return decomposes(Why.CONVENTION)
    return core_kernel(moment, dispatcher) or _by_convention(moment)


def _by_convention(moment: Moment) -> KernelStep:
    """Step that is assumed for an unknown kernel: at BackendSelect it chooses by device and layout, if it gets them; a
    batching rule unwraps."""
    chooses = moment.slot == BACKEND_SELECT and moment.entry.rule is Rule.KERNEL
    if chooses and is_factory(moment.schema):
        return select_backend(moment, Why.CONVENTION)
    if moment.slot in functorch.BATCHING:
        return functorch.unwrapped(moment, Why.CONVENTION)
    return redispatches(moment.below(moment.slot), Why.CONVENTION)


def has_kernels_below(universe: Universe, keys: Iterable[str]) -> bool:
    """True if a kernel above the backends has another one to go on to. keys: where the operator has kernels.

    A kernel at Meta, which computes nothing, does not count.
    """
    computing = backend_keys(universe)
    return any(key in computing or key.startswith("Composite") for key in keys if key != META)


def is_core_fallback(universe: Universe, entry: TableEntry) -> bool:
    """True if the entry is a backend fallback of PyTorch itself."""
    registration = entry.registration
    if entry.rule is not Rule.FALLBACK or registration is None:
        return False
    return universe.own_fallbacks.get(registration.key) == registration.kernel.debug


@lru_cache(maxsize=16)
def backend_keys(universe: Universe) -> frozenset[str]:
    """The keys whose kernels compute: those of the functionalities below BackendSelect, which wraps all of them."""
    names = universe.functionalities
    computing = names[: names.index(BACKEND_SELECT)] if BACKEND_SELECT in names else ()
    return frozenset(key for key, (functionality, _) in universe.runtime_parts.items() if functionality in computing)
