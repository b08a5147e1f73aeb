"""Knowledge of single kernels beyond their keys: that they only raise, or compute where others go on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from dispatch_cli.engine.call.kernels.own_kernels import RAISES, does, of_operators, place_of
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.autograd import autograd_key_of
from dispatch_cli.engine.keys.layout import KeyLayout
from dispatch_cli.engine.table.registration import Registration
from dispatch_cli.model.kernel import RedispatchKind
from dispatch_cli.model.names import OperatorName
from dispatch_cli.model.universe import AUTOGRAD, BACKEND_SELECT, META, Universe

_TRACER = "Tracer"
_COMPUTE = (RedispatchKind.NO, RedispatchKind.OTHER_OPERATORS)


class Special(NamedTuple):
    """Kernels of an operator by the keys that they are registered at.

    raising: they only raise an error. computing: they compute the result, at a key above the backends'.
    """

    raising: frozenset[str] = frozenset()
    computing: frozenset[str] = frozenset()


NO_KERNELS = Special()


def special(dispatcher: Dispatcher, name: OperatorName, registered: int) -> Special:
    """The special kernels of an operator. registered: bits of the keys with a kernel."""
    layout = dispatcher.layout
    is_above = _is_above_only(layout, registered)
    selects = bool(registered & layout.registered_bit.get(BACKEND_SELECT, 0))
    may_raise = str(name) in of_operators(RAISES)
    if dispatcher.is_untouched(name) and not (selects or is_above or may_raise):
        return NO_KERNELS
    active = dispatcher.active(name)
    known = _known(active, str(name))
    if not is_above:
        return known
    go_on = {key for key, registration in active.items() if _goes_on(registration)}
    return known._replace(computing=known.computing | (_above(layout.universe) - go_on))


def _known(active: Mapping[str, Registration], name: str) -> Special:
    """The special kernels among PyTorch's own, and among declared ones.

    What a captured state says of its kernels counts for calls: whether an operator was looked at changes nothing here.
    """
    keys = (row.key for row in of_operators(RAISES).get(name, ()))
    raising = {key for key in keys if key in active and _does(active[key], name) == RAISES}
    select = active.get(BACKEND_SELECT)
    computing = {BACKEND_SELECT} if select is not None and _does(select, name) == "computes" else set()
    for key, registration in active.items():
        if registration.captured:
            continue
        redispatch, fake = registration.kernel.redispatches, registration.kernel.fake
        if redispatch is not None and redispatch.kind is RedispatchKind.RAISES:
            raising.add(key)
        elif redispatch is not None and redispatch.kind in _COMPUTE:
            computing.add(key)
        elif fake is not None and fake.function is None and key == META:
            raising.add(key)
    return Special(frozenset(raising), frozenset(computing))


def _does(registration: Registration, name: str) -> str:
    return does(place_of(registration.kernel.debug, registration.key, name)).what


def _goes_on(registration: Registration) -> bool:
    """True if the kernel is declared to call another kernel of the operator."""
    redispatch = registration.kernel.redispatches
    return redispatch is not None and redispatch.kind not in (*_COMPUTE, RedispatchKind.RAISES)


def _is_above_only(layout: KeyLayout, registered: int) -> bool:
    """True if there are kernels at autograd keys or BackendSelect, and none that they could redispatch to.

    Such a kernel computes the result. Those that torchgen wrote redispatch in any case; they have one at Tracer, too.
    """
    above, below = _bits(layout)
    return bool(registered & above) and not registered & below


@lru_cache(maxsize=16)
def _bits(layout: KeyLayout) -> tuple[int, int]:
    """The bits of the autograd keys and BackendSelect, and those of the backends, the composite aliases, and Tracer."""
    universe, bits = layout.universe, layout.registered_bit
    above = sum(bits[key] for key in _above(universe) if key in bits)
    composite = (alias for alias in universe.aliases if alias.startswith("Composite"))
    backends = (key for key in universe.runtime if key != META and autograd_key_of(universe, key) is not None)
    below = sum(bits[key] for key in {*composite, *backends, _TRACER} if key in bits)
    return above, below


@lru_cache(maxsize=16)
def _above(universe: Universe) -> frozenset[str]:
    return frozenset((AUTOGRAD, *universe.covered_by(AUTOGRAD), BACKEND_SELECT))
