"""PyTorch's own kernels that do not redispatch by convention; recognized by the source file in their debug text.

Sources: ``gen_variable_type.py`` and ``gen_inplace_or_view_type.py``, torchgen's ``RegisterBackendSelect.cpp``,
``autocast_mode.h``, ``gen_functionalization_type.py``, ``functorch/BatchRules*.cpp``, torch/_prims/__init__.py.
"""

from __future__ import annotations

import re

from dispatch_cli.engine.call.errors import not_implemented, refused
from dispatch_cli.engine.call.kernels import batching_rules, functorch, library_kernels
from dispatch_cli.engine.call.kernels.fallbacks import unwrap_functional
from dispatch_cli.engine.call.kernels.handwritten import (
    CALLS_OTHERS,
    COMPUTES,
    COMPUTES_IN_PYTHON,
    DECOMPOSES_FOR_JVP,
    LIFTS_FUNCTIONAL,
    NOT_IMPLEMENTED,
    PRIMS,
    Place,
    place_of,
)
from dispatch_cli.engine.call.options import select_backend
from dispatch_cli.engine.call.schema_facts import arguments_of, has_aliases, is_view
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import ErrorKind, Why
from dispatch_cli.engine.dispatcher.dispatcher import Dispatcher
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.call import ContextKind
from dispatch_cli.model.schema import FunctionSchema, TypeKind
from dispatch_cli.model.schema.arguments import is_mutable, is_tensor, is_tensor_list
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    AUTOGRAD,
    BACK,
    BACKEND_SELECT,
    CATCH_ALL,
    FUNCTIONALIZE,
    NON_FUNCTIONAL,
)

_VMAP_DECOMPOSITIONS = re.compile(r"[/\\]torch[/\\]_functorch[/\\]\w+\.py:[0-9]+")
"""Lines where the first vmap of a process registers decompositions, as batching rules."""


def at_backend(moment: Moment) -> KernelStep:
    """A kernel at a backend key computes, but for those of PyTorch that are written in other operators.

    torchgen writes such kernels for structured operators and for copies of views: they call ``mm.out`` for ``mm``, and
    the view and ``clone`` for a copy.
    """
    place = _place(moment)
    if place is not None and (message := NOT_IMPLEMENTED.get(place)) is not None:
        return raises(not_implemented(message), Why.CORE_KERNEL)
    if place is None or place[0] != f"Register{NON_FUNCTIONAL}" or place in COMPUTES:
        return ends(Why.BACKEND)
    return decomposes(Why.CORE_KERNEL)


def _place(moment: Moment) -> Place | None:
    """Place that a kernel of PyTorch is from; None for a kernel without a source file in C++."""
    if moment.entry.kernel is None:
        return None
    registration = moment.entry.registration
    key = registration.key if registration is not None else moment.slot
    return place_of(moment.entry.kernel.debug, key, str(moment.name))


def core_kernel(moment: Moment, dispatcher: Dispatcher) -> KernelStep | None:
    """Step of a kernel of PyTorch itself; None where it follows the convention, or is not PyTorch's."""
    kernel = moment.entry.kernel
    if kernel is None:
        return None
    at_autograd = moment.slot in moment.maker.universe.aliases.get(AUTOGRAD, ())
    in_python = (moment.slot, str(moment.name)) in COMPUTES_IN_PYTHON
    if in_python or (PRIMS.search(kernel.debug) and moment.slot == BACKEND_SELECT):
        return ends(Why.CORE_KERNEL)
    if PRIMS.search(kernel.debug) and at_autograd:
        return calls_anew(moment.thread.exclude(moment.maker.autograd_keys), why=Why.CORE_KERNEL)
    if moment.slot == functorch.BATCHED and _VMAP_DECOMPOSITIONS.search(kernel.debug):
        return decomposes(Why.CORE_KERNEL)
    if library_kernels.of_custom_op(kernel):
        return library_kernels.custom_op(moment, dispatcher)
    place = _place(moment)
    if place is None:
        return None
    source = place[0]
    universe = moment.maker.universe
    if source.startswith(batching_rules.SOURCES):
        return batching_rules.batching_rule(moment, place)
    if place in COMPUTES:
        return ends(Why.CORE_KERNEL)
    if place in CALLS_OTHERS:
        return decomposes(Why.CORE_KERNEL)
    if source.startswith("VariableType") and at_autograd:
        undefined = _undefined_argument(moment)
        if undefined is not None:
            return raises(refused(ErrorKind.UNDEFINED, undefined), Why.CORE_KERNEL)
        if place in DECOMPOSES_FOR_JVP and any(value.has_tangent for value in moment.values):
            return decomposes(Why.CORE_KERNEL)
        return redispatches(moment.below(universe.after_autograd), Why.CORE_KERNEL, thread=_guarded(moment))
    if source in ("ADInplaceOrViewType", "VariableTypeManual") and moment.slot == AD_INPLACE_OR_VIEW:
        return redispatches(moment.below(moment.slot), Why.CORE_KERNEL, thread=_guarded(moment))
    if source == "DynamicLayer" and moment.slot == BACK:
        return functorch.back(moment)._replace(why=Why.CORE_KERNEL)
    if source == "RegisterZeroTensor":
        return _zero_tensor(moment)
    if source == "TraceType" and moment.slot == "Tracer":
        return redispatches(moment.below(moment.slot), Why.CORE_KERNEL)
    if source == "autocast_mode":
        thread = moment.thread.exclude(moment.maker.known(moment.slot))
        return calls_anew(thread, why=Why.CORE_KERNEL, unboxed=True)
    if source == "PyTorchOperatorHacks":
        return decomposes(Why.CORE_KERNEL)
    if source == "VmapModeRegistrations":
        text = f"vmap: we do not yet support {moment.name}. Please file an issue"
        return raises(refused(ErrorKind.TRANSFORM, text), Why.CORE_KERNEL)
    if source == "RegisterBackendSelect":
        return select_backend(moment, Why.CORE_KERNEL)
    if source == f"Register{moment.slot}":
        return ends(Why.CORE_KERNEL)
    if source in ("RegisterFunctionalization", "FunctionalizeFallbackKernel"):
        return _functionalized(moment, source, dispatcher)
    return None


def _undefined_argument(moment: Moment) -> str | None:
    """Message of a generated autograd kernel for an undefined tensor; None where it gets none, or for ``Tensor?``."""
    if _several_ways(moment.schema):
        return None
    for argument, value in zip(arguments_of(moment.schema, len(moment.values)), moment.values, strict=True):
        if value.is_undefined and argument is not None and argument.type.kind is TypeKind.TENSOR:
            assert moment.schema is not None, "the argument is of a schema"
            position = moment.schema.arguments.index(argument)
            proper = "Expected a proper Tensor but got None (or an undefined Tensor in C++)"
            return f"{proper} for argument #{position} '{argument.name}'"
    return None


def _several_ways(schema: FunctionSchema | None) -> bool:
    """True if an undefined tensor may be for one of several arguments: there are two lists, and a ``Tensor?``."""
    arguments = () if schema is None else schema.arguments
    lists = sum(is_tensor_list(argument.type) for argument in arguments)
    return lists > 1 and any(
        argument.type.kind is TypeKind.OPTIONAL and is_tensor(argument.type) for argument in arguments
    )


def _guarded(moment: Moment) -> Thread:
    """The thread while a generated kernel calls on below autograd; a selection of the Python dispatcher sees it."""
    below = moment.maker.autograd_keys
    # Operators that write, and those that make views, have a kernel at ADInplaceOrView still to come.
    if moment.slot == AD_INPLACE_OR_VIEW or not has_aliases(moment.schema):
        below |= moment.maker.known(AD_INPLACE_OR_VIEW)
    return moment.thread.exclude(below)


def _zero_tensor(moment: Moment) -> KernelStep:
    """Views compute; arithmetic goes on at Meta for the shape of the result, which it then fills with zeros."""
    if is_view(moment.schema):
        return ends(Why.CORE_KERNEL)
    return redispatches(DispatchKeySet.of(moment.maker.universe, ("Meta",)), Why.CORE_KERNEL)


def _functionalized(moment: Moment, source: str, dispatcher: Dispatcher) -> KernelStep:
    """Step that, for functional tensors, turns an operator that writes into one that does not.

    Views, and operators that do not write, are called again with what the functional tensors wrap; where views are not
    to be applied again, the variant that copies is called in their place. An operator that works in place is first
    tried on meta tensors, which is left out here.
    """
    if source == "RegisterFunctionalization" and dispatcher.operator(moment.name).has_kernel(CATCH_ALL):
        # torchgen puts the composite kernel itself there, so that it decomposes before it is functionalized
        return decomposes(Why.CORE_KERNEL)
    values = tuple(map(unwrap_functional, moment.values))
    if values != moment.values and str(moment.name) in LIFTS_FUNCTIONAL:  # they call view_as or clone
        return decomposes(Why.CORE_KERNEL)
    if values != moment.values and (is_mutable(moment.schema) or not _applies_views_again(moment, source)):
        return decomposes(Why.CORE_KERNEL)
    thread = moment.thread.exclude(moment.maker.known(FUNCTIONALIZE))
    return calls_anew(thread, values, Why.CORE_KERNEL, unboxed=True)


def _applies_views_again(moment: Moment, source: str) -> bool:
    """Functorch's ``functionalize`` does, by default; what turns on functionalization otherwise does not.

    Nor does what comes here past that transform, which has saved no keys then.
    """
    layer = moment.thread.layers[-1] if moment.thread.layers else None
    is_inside = layer is not None and layer.kind is ContextKind.FUNCTIONALIZE and layer.saved is not None
    return source != "RegisterFunctionalization" or is_inside
