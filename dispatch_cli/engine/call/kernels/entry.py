"""Step of the kernel in a slot, as far as its place and its origin tell.

PyTorch's own kernels that do not redispatch by convention are told by what a table says of their places. Sources:
``gen_variable_type.py`` and ``gen_inplace_or_view_type.py``, torchgen's ``RegisterBackendSelect.cpp``,
``autocast_mode.h``, ``gen_functionalization_type.py``, ``gen_vmap_plumbing.py``, ``functorch/BatchRules*.cpp``,
``functorch/LegacyBatchingRegistrations.cpp``, torch/_prims/__init__.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dispatch_cli.engine.call import errors
from dispatch_cli.engine.call.errors import RUNTIME, failed_assert, not_implemented, refused
from dispatch_cli.engine.call.kernels import library_kernels
from dispatch_cli.engine.call.kernels.own_kernels import NOTHING_KNOWN, RAISES, Does, does, place_of
from dispatch_cli.engine.call.options import is_factory, select_backend
from dispatch_cli.engine.call.schema_facts import arguments_of, has_aliases, is_view, returns_tensors_only
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, decomposes, ends, raises, redispatches
from dispatch_cli.engine.call.tensors import Value
from dispatch_cli.engine.call.thread import Thread
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.engine.rules import Rule
from dispatch_cli.engine.table.table import is_core_fallback
from dispatch_cli.model.calls.call import Absent, ContextKind, TensorSpec
from dispatch_cli.model.kernel import Redispatch, RedispatchKind
from dispatch_cli.model.schema.model import FunctionSchema, is_mutable, is_tensor, is_tensor_list
from dispatch_cli.model.schema.types import TypeKind
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    BACKEND_SELECT,
    BATCHED_KEYS,
    CATCH_ALL,
    FRONT,
    FUNCTIONALIZE,
    META,
    UNDEFINED,
    Universe,
    autograd_key_of,
)

_OLDER = "LegacyBatchingRegistrations"
_NONE = TensorSpec(absent=Absent.NONE)
Way = Callable[[Moment, Does], KernelStep]
"""Step of a kernel that does something of its own."""
COMPOSITES = frozenset({Rule.MATH, Rule.NESTED, Rule.BATCHED})


def batching_rule(moment: Moment, own: Does) -> KernelStep:
    """The operator is called again with the tensors that the innermost transform wraps; some are made of others."""
    if own.how == "decomposes":
        return decomposes(Why.CORE_KERNEL)
    if own.how == "dynamic-shape":
        return raises(_dynamic_shape(moment), Why.CORE_KERNEL)
    kernel = moment.entry.kernel
    is_older = kernel is not None and _OLDER in kernel.debug
    if not moment.thread.layers:
        return raises(_escaped(is_older), Why.CORE_KERNEL)
    if own.how == "no-rule":
        text = f"Error: {moment.name} requires special handling, and does not yet have a batching rule. Feel free to "
        return raises(refused(ErrorKind.TRANSFORM, f"{text}file a github issue!"), Why.CORE_KERNEL)
    if own.how == "computes":
        return ends(Why.CORE_KERNEL)
    if own.how == "calls-others":
        return decomposes(Why.CORE_KERNEL)
    from dispatch_cli.engine.call.kernels.functorch import unwrapped_values

    values = unwrapped_values(moment)
    if own.how == "without-weight":
        values = _without_weight(moment, values)
    # The older rules leave their key to the tensors of other levels, once they have unwrapped those of this one.
    keeps_key = is_older and own.how != "newer" and values != moment.values
    excluded = () if keeps_key else (moment.slot,)
    # They pass an undefined tensor on as None, but in a list as it is.
    values = tuple(
        moment.maker.make(_NONE) if value.is_undefined and not (of is not None and is_tensor_list(of.type)) else value
        for of, value in zip(arguments_of(moment.schema, len(values)), values, strict=True)
    )
    thread = moment.thread.exclude(moment.maker.known(*excluded))
    return calls_anew(thread, values, Why.CORE_KERNEL, unboxed=True)


def _without_weight(moment: Moment, values: tuple[Value, ...]) -> tuple[Value, ...]:
    """The tensors of a normalization with None for weight and bias, where the rule applies these itself."""
    arguments = arguments_of(moment.schema, len(values))
    weights = [at for at, item in enumerate(arguments) if item is not None and item.name in ("weight", "bias")]
    if str(moment.name) == "aten::native_layer_norm" and all(values[at] is moment.values[at] for at in weights):
        return values
    none = moment.maker.make(_NONE)
    return tuple(none if at in weights else value for at, value in enumerate(values))


def _escaped(is_older: bool) -> Error:
    """No transform is active, so that the tensor is of one that is over."""
    if is_older:
        return failed_assert(ErrorKind.TRANSFORM, "maybe_level.has_value()", f"{_OLDER}.cpp")
    text = (
        f"{printed_texts.ESCAPED} and this is a user error (see "
        "https://pytorch.org/functorch/stable/ux_limitations.html), or there is an internal functorch error in `"
    )
    return Error(ErrorKind.TRANSFORM, RUNTIME, text, whole=False)


def _dynamic_shape(moment: Moment) -> Error:
    if not returns_tensors_only(moment.schema):  # each has a text of its own
        return Error(ErrorKind.TRANSFORM, RUNTIME, "vmap", whole=False)
    text = (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"{moment.name}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
    )
    return refused(ErrorKind.TRANSFORM, text)


def at_backend(moment: Moment) -> KernelStep:
    """A kernel at a backend key computes, but for those of PyTorch that are written in other operators."""
    own = _does(moment)
    if own.what == RAISES:
        return raises(not_implemented(own.text), Why.CORE_KERNEL)
    return decomposes(Why.CORE_KERNEL) if own.what == "wraps" else ends(Why.BACKEND)


def _does(moment: Moment) -> Does:
    """Effect of the kernel of the moment, if it is one of PyTorch's own of which that is known."""
    kernel, registration = moment.entry.kernel, moment.entry.registration
    if kernel is None:
        return NOTHING_KNOWN
    return does(place_of(kernel.debug, moment.slot if registration is None else registration.key, str(moment.name)))


def core_kernel(moment: Moment) -> KernelStep | None:
    """Step of a kernel of PyTorch itself; None where it follows the convention, or is not PyTorch's."""
    own = _does(moment)
    way = _WAYS.get(own.what)
    return None if way is None else way(moment, own)


def _autograd(moment: Moment, own: Does) -> KernelStep:
    """Generated autograd kernels; without a formula for a forward derivative they are written in other operators."""
    undefined = _undefined_argument(moment)
    if undefined is not None:
        return raises(refused(ErrorKind.UNDEFINED, undefined), Why.CORE_KERNEL)
    if own.how == "without-jvp" and any(value.has_tangent for value in moment.values):
        return decomposes(Why.CORE_KERNEL)  # torch/_decomp/decompositions_for_jvp.py
    below = moment.below(moment.maker.universe.after_autograd)
    return redispatches(below, Why.CORE_KERNEL, thread=_guarded(moment))


def _autocast(moment: Moment, _own: Does) -> KernelStep:
    thread = moment.thread.exclude(moment.maker.known(moment.slot))
    return calls_anew(thread, why=Why.CORE_KERNEL, unboxed=True)


def _refuses_vmap(moment: Moment, _own: Does) -> KernelStep:
    text = f"vmap: we do not yet support {moment.name}. Please file an issue"
    return raises(refused(ErrorKind.TRANSFORM, text), Why.CORE_KERNEL)


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


def _zero_tensor(moment: Moment, _own: Does) -> KernelStep:
    """Views compute; arithmetic goes on at Meta for the shape of the result, which it then fills with zeros."""
    if is_view(moment.schema):
        return ends(Why.CORE_KERNEL)
    return redispatches(DispatchKeySet.of(moment.maker.universe, ("Meta",)), Why.CORE_KERNEL)


def _functionalized(moment: Moment, own: Does) -> KernelStep:
    """Step that, for functional tensors, turns an operator that writes into one that does not.

    Views, and operators that do not write, are called again with what the functional tensors wrap; where views are not
    to be applied again, the variant that copies is called in their place. An operator that works in place is first
    tried on meta tensors, which is left out here.
    """
    if own.how == "views" and moment.operator.has_kernel(CATCH_ALL):
        # torchgen puts the composite kernel itself there, so that it decomposes before it is functionalized
        return decomposes(Why.CORE_KERNEL)
    from dispatch_cli.engine.call.kernels.fallbacks import unwrap_functional

    values = tuple(map(unwrap_functional, moment.values))
    by_others = own.how == "lifts" or is_mutable(moment.schema) or not _applies_views_again(moment, own)
    if values != moment.values and by_others:
        return decomposes(Why.CORE_KERNEL)
    thread = moment.thread.exclude(moment.maker.known(FUNCTIONALIZE))
    return calls_anew(thread, values, Why.CORE_KERNEL, unboxed=True)


def _applies_views_again(moment: Moment, own: Does) -> bool:
    """Functorch's ``functionalize`` does, by default; what turns on functionalization otherwise does not.

    Nor does what comes here past that transform, which has saved no keys then.
    """
    layer = moment.thread.layers[-1] if moment.thread.layers else None
    is_inside = layer is not None and layer.kind is ContextKind.FUNCTIONALIZE and layer.saved is not None
    return own.how != "views" or is_inside


# Functorch is imported here, and by batching_rule, when a kernel of it runs: most calls are outside of transforms.
def _transform_back(moment: Moment, *_: object) -> KernelStep:
    from dispatch_cli.engine.call.kernels.functorch import back

    return back(moment)._replace(why=Why.CORE_KERNEL)


def _unwrapped(moment: Moment, why: Why) -> KernelStep:
    from dispatch_cli.engine.call.kernels.functorch import unwrapped

    return unwrapped(moment, why)


_WAYS: dict[str, Way] = {
    "computes": lambda *_: ends(Why.CORE_KERNEL),
    "calls-others": lambda *_: decomposes(Why.CORE_KERNEL),
    "below-key": lambda moment, *_: redispatches(moment.below(moment.slot), Why.CORE_KERNEL),
    "in-place-or-view": lambda moment, *_: redispatches(
        moment.below(moment.slot), Why.CORE_KERNEL, thread=_guarded(moment)
    ),
    "excludes-autograd": lambda moment, *_: calls_anew(
        moment.thread.exclude(moment.maker.autograd_keys), why=Why.CORE_KERNEL
    ),
    "transform-back": _transform_back,
    "backend-select": lambda moment, *_: select_backend(moment, Why.CORE_KERNEL),
    "batching": batching_rule,
    "autograd": _autograd,
    "autocast": _autocast,
    "refuses-vmap": _refuses_vmap,
    "zero-tensor": _zero_tensor,
    "functionalize": _functionalized,
}
"""Steps of kernels by the words of the table."""


def as_declared(moment: Moment, declared: Redispatch) -> KernelStep:
    """Step of a kernel whose declaration has a field ``redispatches``. declared: that field."""
    why, universe = Why.DECLARED, moment.maker.universe
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
            return _unwrapped(moment, why)
        case RedispatchKind.OTHER_OPERATORS:
            return decomposes(why)
        case RedispatchKind.RAISES:
            return raises(errors.raised_by_kernel(), why)


def run(moment: Moment) -> KernelStep:
    """Step of the kernel of the moment's entry, which has one."""
    entry, universe = moment.entry, moment.maker.universe
    if entry.rule is Rule.AMBIGUOUS:
        return raises(errors.ambiguous(moment.dispatcher, moment.name), Why.NO_KERNEL)
    if entry.is_fallthrough:
        return raises(errors.fallthrough_called(), Why.NO_KERNEL)
    if (step := library_kernels.wrapped(moment)) is not None:
        return step
    if entry.kernel is not None and entry.kernel.redispatches is not None:
        return as_declared(moment, entry.kernel.redispatches)
    if is_core_fallback(universe, entry):
        from dispatch_cli.engine.call.kernels.fallbacks import fallback_of

        if (fallback := fallback_of(moment)) is not None:
            return fallback(moment)
    if entry.rule in COMPOSITES:
        return decomposes(Why.COMPOSITE)
    if moment.slot == UNDEFINED or autograd_key_of(universe, moment.slot) is not None:
        return at_backend(moment)
    if moment.slot == FRONT:  # an operator is taken apart here, before any transform sees it
        return decomposes(Why.CONVENTION)
    return core_kernel(moment) or _by_convention(moment)


def _by_convention(moment: Moment) -> KernelStep:
    """Step that is assumed for an unknown kernel: at BackendSelect it chooses by device and layout, if it gets them; a
    batching rule unwraps."""
    chooses = moment.slot == BACKEND_SELECT and moment.entry.rule is Rule.KERNEL
    if chooses and is_factory(moment.schema):
        return select_backend(moment, Why.CONVENTION)
    if moment.slot in BATCHED_KEYS:
        return _unwrapped(moment, Why.CONVENTION)
    return redispatches(moment.below(moment.slot), Why.CONVENTION)


def has_kernels_below(universe: Universe, keys: Iterable[str]) -> bool:
    """True if a kernel above the backends has another one to go on to. keys: where the operator has kernels.

    A kernel at Meta, which computes nothing, does not count.
    """
    computing = (key for key in keys if key != META)
    return any(key.startswith("Composite") or autograd_key_of(universe, key) is not None for key in computing)
