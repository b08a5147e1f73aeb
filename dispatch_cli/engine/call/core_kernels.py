"""Kernels of PyTorch itself that do not go on by the convention; told by the source file in their debug text.

Sources: torchgen's templates ``VariableType.cpp`` and ``RegisterBackendSelect.cpp``, ``autocast_mode.h``,
``gen_functionalization_type.py``, ``functorch/BatchRules*.cpp``.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.core import unwrap_functional
from dispatch_cli.engine.call.errors import refused
from dispatch_cli.engine.call.step import Moment, Step, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.thread import FUNCTIONALIZE
from dispatch_cli.engine.call.trace import ErrorKind, Why
from dispatch_cli.engine.keyset import DispatchKeySet

_NATIVE = re.compile(r"_[0-9]+$")
"""What torchgen puts behind the name of a file when it writes several of them."""
_SOURCE = re.compile(r"(?:^|[/\\ ])([A-Za-z0-9_]+)\.(?:cpp|h):[0-9]+")


def core_kernel(moment: Moment) -> Step | None:
    """What a kernel of PyTorch itself does; None where it goes on by the convention, or is not PyTorch's."""
    kernel = moment.entry.kernel
    found = _SOURCE.search(kernel.debug) if kernel is not None else None
    if found is None:
        return None
    source = found[1]
    universe = moment.maker.universe
    if source.startswith("VariableType") and moment.slot in universe.aliases.get("Autograd", ()):
        return redispatches(moment.below(universe.after_autograd), Why.CORE_KERNEL)
    if source == "autocast_mode":
        return calls_anew(moment.thread.exclude(moment.maker.known(moment.slot)), why=Why.CORE_KERNEL)
    if source.startswith(("BatchRules", "LegacyBatchingRegistrations", "PyTorchOperatorHacks")):
        return decomposes(Why.CORE_KERNEL)
    if source == "VmapModeRegistrations":
        text = f"vmap: we do not yet support {moment.name}. Please file an issue"
        return raises(refused(ErrorKind.TRANSFORM, text), Why.CORE_KERNEL)
    if source == "RegisterBackendSelect":
        return _backend_select(moment)
    if _NATIVE.sub("", source) == f"Register{moment.slot}":
        return ends(Why.CORE_KERNEL)
    if source.startswith("RegisterFunctionalization") or source == "FunctionalizeFallbackKernel":
        return _functionalized(moment)
    return None


def _backend_select(moment: Moment) -> Step:
    """On with the key of the device argument, which is the first device's where it is not given, and of the tensors."""
    universe, keys = moment.maker.universe, moment.thread.keys
    chosen = DispatchKeySet.of(universe, (moment.maker.device_key(None, ""),))
    if not moment.values:
        return redispatches(chosen, Why.CORE_KERNEL)
    for value in moment.values:
        chosen |= value.keyset
    below = DispatchKeySet.full_after(universe, moment.slot)
    return redispatches(((chosen | keys.included) - keys.excluded) & below, Why.CORE_KERNEL)


def _functionalized(moment: Moment) -> Step:
    """With functional tensors it calls the functional variant; without, the operator itself, not functionalized.

    An operator that works in place is first tried on meta tensors, which is left out here.
    """
    if tuple(map(unwrap_functional, moment.values)) != moment.values:
        return decomposes(Why.CORE_KERNEL)
    thread = moment.thread.exclude(moment.maker.known(FUNCTIONALIZE))
    return calls_anew(thread, why=Why.CORE_KERNEL)
