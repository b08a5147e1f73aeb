"""What a kernel does whose declaration says how it goes on: the field ``redispatches``."""

from __future__ import annotations

from dispatch_cli.engine.call.errors import raised_by_kernel
from dispatch_cli.engine.call.kernels import functorch, library_kernels
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.trace import Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.redispatch import Redispatch, RedispatchKind


def as_declared(moment: Moment, said: Redispatch) -> KernelStep:
    """What the kernel does. said: its declaration."""
    why, universe = Why.DECLARED, moment.maker.universe
    match said.kind:
        case RedispatchKind.NO:
            return ends(why)
        case RedispatchKind.BELOW_KEY:
            return redispatches(moment.below(moment.slot), why)
        case RedispatchKind.BELOW_AUTOGRAD:
            if moment.entry.kernel is not None and library_kernels.is_generated(moment.entry.kernel.debug):
                return library_kernels.autograd(moment, why)
            return redispatches(moment.below(universe.after_autograd), why)
        case RedispatchKind.TO:
            return redispatches(DispatchKeySet.of(universe, said.keys), why)
        case RedispatchKind.EXCLUDE:
            return calls_anew(moment.thread.exclude(DispatchKeySet.of(universe, said.keys)), why=why)
        case RedispatchKind.UNWRAPPED:
            return functorch.unwrapped(moment, why)
        case RedispatchKind.OTHER_OPERATORS:
            return decomposes(why)
        case RedispatchKind.RAISES:
            return raises(raised_by_kernel(), why)
