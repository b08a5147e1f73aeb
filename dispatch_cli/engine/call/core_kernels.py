"""Kernels of PyTorch itself that do not go on by the convention; told by the source file in their debug text.

Sources: ``gen_variable_type.py`` and ``gen_inplace_or_view_type.py``, torchgen's ``RegisterBackendSelect.cpp``,
``autocast_mode.h``, ``gen_functionalization_type.py``, ``functorch/BatchRules*.cpp``, torch/_prims/__init__.py.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.core import unwrap_functional
from dispatch_cli.engine.call.device import select_backend
from dispatch_cli.engine.call.errors import refused
from dispatch_cli.engine.call.schema_facts import has_aliases
from dispatch_cli.engine.call.step import Moment, Step, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.tensors import AD_INPLACE_OR_VIEW, BACKEND_SELECT
from dispatch_cli.engine.call.thread import FUNCTIONALIZE, Thread
from dispatch_cli.engine.call.trace import ErrorKind, Why
from dispatch_cli.engine.dispatcher import Dispatcher
from dispatch_cli.model.universe import CATCH_ALL

_NATIVE = re.compile(r"_[0-9]+$")
"""What torchgen puts behind the name of a file when it writes several of them."""
_SOURCE = re.compile(r"(?:^|[/\\ ])([A-Za-z0-9_]+)\.(?:cpp|h):[0-9]+")

_PRIMS = re.compile(r"[/\\]torch[/\\]_prims[/\\]__init__\.py:[0-9]+")
"""Where the operators of prims are registered; those that look at a device do so at BackendSelect, and compute."""


def core_kernel(moment: Moment, dispatcher: Dispatcher) -> Step | None:
    """What a kernel of PyTorch itself does; None where it goes on by the convention, or is not PyTorch's."""
    kernel = moment.entry.kernel
    if kernel is None:
        return None
    if moment.slot == BACKEND_SELECT and _PRIMS.search(kernel.debug):
        return ends(Why.CORE_KERNEL)
    found = _SOURCE.search(kernel.debug)
    if found is None:
        return None
    source = found[1]
    universe = moment.maker.universe
    if source.startswith("VariableType") and moment.slot in universe.aliases.get("Autograd", ()):
        return redispatches(moment.below(universe.after_autograd), Why.CORE_KERNEL, thread=_guarded(moment))
    if source.startswith("ADInplaceOrViewType") and moment.slot == AD_INPLACE_OR_VIEW:
        return redispatches(moment.below(moment.slot), Why.CORE_KERNEL, thread=_guarded(moment))
    if source == "autocast_mode":
        return calls_anew(moment.thread.exclude(moment.maker.known(moment.slot)), why=Why.CORE_KERNEL)
    if source.startswith(("BatchRules", "LegacyBatchingRegistrations", "PyTorchOperatorHacks")):
        return decomposes(Why.CORE_KERNEL)
    if source == "VmapModeRegistrations":
        text = f"vmap: we do not yet support {moment.name}. Please file an issue"
        return raises(refused(ErrorKind.TRANSFORM, text), Why.CORE_KERNEL)
    if source == "RegisterBackendSelect":
        return select_backend(moment, Why.CORE_KERNEL)
    if _NATIVE.sub("", source) == f"Register{moment.slot}":
        return ends(Why.CORE_KERNEL)
    if source.startswith("RegisterFunctionalization") and dispatcher.operator(moment.name).has_kernel(CATCH_ALL):
        # torchgen puts the composite kernel itself there, so that it decomposes before it is functionalized
        return decomposes(Why.CORE_KERNEL)
    if source.startswith("RegisterFunctionalization") or source == "FunctionalizeFallbackKernel":
        return _functionalized(moment)
    return None


def _guarded(moment: Moment) -> Thread:
    """The thread while a generated kernel calls on below autograd; a selection of the Python dispatcher sees it."""
    below = moment.maker.autograd_keys
    # Operators that write, and those that make views, have a kernel at ADInplaceOrView still to come.
    if moment.slot == AD_INPLACE_OR_VIEW or not has_aliases(moment.schema):
        below |= moment.maker.known(AD_INPLACE_OR_VIEW)
    return moment.thread.exclude(below)


def _functionalized(moment: Moment) -> Step:
    """With functional tensors it calls the functional variant; without, the operator itself, not functionalized.

    An operator that works in place is first tried on meta tensors, which is left out here.
    """
    if tuple(map(unwrap_functional, moment.values)) != moment.values:
        return decomposes(Why.CORE_KERNEL)
    thread = moment.thread.exclude(moment.maker.known(FUNCTIONALIZE))
    return calls_anew(thread, why=Why.CORE_KERNEL)
