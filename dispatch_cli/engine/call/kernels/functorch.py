"""Steps of functorch's fallbacks: a stack of transforms takes over a call, one after the other, the innermost first.

The front key gives the call to the innermost transform, which excludes all keys but its own and calls the operator
again; the back key removes that transform and calls the operator again, with the keys of before.

Sources: ``functorch/DynamicLayer.cpp``, ``Interpreter.cpp``, ``ADInterpreters.cpp``, ``VmapInterpreter.cpp``,
``FunctionalizeInterpreter.cpp``, ``BatchedFallback.cpp``, ``TensorWrapper.cpp``.
"""

from __future__ import annotations

from dispatch_cli.engine.call.errors import crash, failed_assert, raised_by_kernel, refused
from dispatch_cli.engine.call.schema_facts import has_aliases, is_in_place, returns_tensors_only, takes_tensor_list
from dispatch_cli.engine.call.step import KernelStep, Moment, calls_anew, raises
from dispatch_cli.engine.call.tensors import NESTED, TensorMaker, Value, is_functional
from dispatch_cli.engine.call.thread import GRADS, Layer, LocalKeys, Thread
from dispatch_cli.engine.call.trace import Error, ErrorKind, Why
from dispatch_cli.engine.keys.keyset import DispatchKeySet
from dispatch_cli.model.calls.call import ContextKind, Layout, Wrapper, WrapperKind
from dispatch_cli.model.schema.model import is_mutable
from dispatch_cli.model.text import printed_texts
from dispatch_cli.model.universe import (
    AD_INPLACE_OR_VIEW,
    BACK,
    BATCHED,
    BATCHED_KEYS,
    BATCHED_NESTED,
    FRONT,
    FUNCTIONALIZE,
)

GRAD_WRAPPER = "FuncTorchGradWrapper"
VMAP_MODE = "FuncTorchVmapMode"
_AUTOCAST = "Autocast"
_COMPRESSED = {Layout.SPARSE_CSR: "CSR", Layout.SPARSE_CSC: "CSC", Layout.SPARSE_BSR: "BSR", Layout.SPARSE_BSC: "BSC"}


def front(moment: Moment) -> KernelStep:
    """The innermost transform takes over."""
    thread, maker = moment.thread, moment.maker
    if not thread.layers:
        return raises(failed_assert(ErrorKind.TRANSFORM, "!dynamicLayerStack.empty()", "DynamicLayer.cpp"))
    layer = thread.layers[-1]._replace(saved=thread.keys)
    values = tuple(_unwrap_dead(value, thread) for value in moment.values)
    if layer.kind in GRADS:
        if _mutates_capture(moment, values, layer):
            return raises(_captured_mutation(moment))
        wrapper = Wrapper(WrapperKind.GRAD, layer.level)
        without = next((text for value in values if value.wrapper != wrapper and (text := no_strides(value))), None)
        if without is not None:
            return raises(refused(ErrorKind.TRANSFORM, without))
        values = tuple(
            value if value.wrapper == wrapper else maker.wrap(value, wrapper, thread.inference) for value in values
        )
    thread = thread._replace(layers=(*thread.layers[:-1], layer), keys=_inside(maker, layer, thread.keys))
    return calls_anew(thread, values)


def back(moment: Moment) -> KernelStep:
    """The call continues without the innermost transform."""
    thread, maker = moment.thread, moment.maker
    if not thread.layers:
        return raises(crash("the stack of transforms is empty, and its last element is read"))
    layer = thread.layers[-1]
    if layer.saved is None:
        text = "savedLocalDispatchKeySet_.has_value()"
        return raises(failed_assert(ErrorKind.TRANSFORM, text, "Interpreter.h"))
    values = moment.values
    if layer.kind in GRADS:
        values = tuple(_unwrap(value, layer) for value in values)
    elif layer.kind is ContextKind.FUNCTIONALIZE and any(map(is_functional, values)):
        condition = "!at::functionalization::impl::isFunctionalTensor(tensor)"
        return raises(failed_assert(ErrorKind.TRANSFORM, condition, "FunctionalizeInterpreter.cpp"))
    gradients = thread.gradients and (layer.kind is not ContextKind.GRAD or layer.gradients)
    thread = thread._replace(layers=thread.layers[:-1], keys=layer.saved, gradients=gradients)
    if not thread.layers:
        thread = thread.without_included(maker.known(FRONT, BACK))
        left = next((value for value in values if _is_live_wrapper(value)), None)
        if left is not None:
            what = "batched" if left.wrapper is not None and left.wrapper.kind is WrapperKind.BATCHED else "wrapper"
            return raises(failed_assert(ErrorKind.TRANSFORM, f"{what} == nullptr", "Interpreter.cpp"))
    return calls_anew(thread, values)


def batched(moment: Moment) -> KernelStep:
    """The operator has no batching rule: it is called again for every slice of the batch."""
    thread, schema, name = moment.thread, moment.schema, moment.name
    nested = moment.slot == BATCHED_NESTED
    template = printed_texts.NO_NESTED_BATCHING_RULE if nested else printed_texts.NO_BATCHING_RULE
    no_rule = template.format(op=name)
    if not returns_tensors_only(schema) or takes_tensor_list(schema):
        return _no_rule(f"{no_rule}. We could not generate a fallback.")
    if moment.values and not thread.layers:
        return raises(failed_assert(ErrorKind.TRANSFORM, "maybe_level.has_value()", "PlumbingHelper.h"))
    level = len(thread.layers)
    if not any(value.is_batched_at(level) for value in moment.values):
        return calls_anew(thread.exclude(_batched_keys(moment)))
    if is_in_place(schema):
        if nested:
            message = "vmap fallback not supported for in-place ops on nested tensors"
            return raises(failed_assert(ErrorKind.TRANSFORM, "!isInplaceOp(schema)", "BatchedFallback.cpp", message))
        offending = _offending_level(moment.values)
        if offending is not None:
            return _no_rule(_in_place_text(name.name, offending))
    elif is_mutable(schema) or has_aliases(schema):
        return _no_rule(f"{no_rule}; the fallback path doesn't work on out= or view ops.")
    elif schema is not None and not schema.returns:
        return _no_rule(f"{no_rule}. The fallback path does not support operations with no returns.")
    split_level = None if nested else level  # the fallback of nested tensors takes batches of all levels apart
    if nested and thread.keys.excluded.has(NESTED):  # a nested tensor is taken apart as if it were a plain one
        return raises(refused(ErrorKind.TRANSFORM, _no_nested("sizes")))
    values = [
        moment.maker.slice(value.inner, thread.inference)
        if value.is_batched_at(split_level) and value.inner is not None
        else value
        for value in moment.values
    ]
    if is_in_place(schema):  # all its batched tensors are of this level
        return calls_anew(thread, tuple(values))
    return calls_anew(thread.exclude(moment.maker.known(moment.slot)), tuple(values))


def unwrapped(moment: Moment, why: Why) -> KernelStep:
    """Unwrap what the innermost transform wraps, and call the operator again below it, as batching rules do.

    Where nothing is to be unwrapped, too. The keys of that transform are excluded meanwhile, so that the tensors of
    other levels go on to those. This is what torchgen writes (``gen_vmap_plumbing.py``), and what
    ``torch.library.register_vmap`` does. A batching rule raises where the innermost transform is no vmap.
    """
    thread, is_rule = moment.thread, moment.slot in BATCHED_KEYS
    if not thread.layers or (is_rule and thread.layers[-1].kind is not ContextKind.VMAP):
        return raises(raised_by_kernel(), why)
    keys = _batched_keys(moment) if is_rule else _own_keys(moment.maker, thread.layers[-1].kind)
    return calls_anew(thread.exclude(keys), unwrapped_values(moment), why)


def unwrapped_values(moment: Moment) -> tuple[Value, ...]:
    """The tensors of the call; of those that the innermost transform wraps, what is inside.

    A batching rule unwraps what vmap wraps alone.
    """
    level = len(moment.thread.layers)
    kinds = (WrapperKind.BATCHED,) if moment.slot in BATCHED_KEYS else tuple(WrapperKind)
    return tuple(
        value.inner
        if value.inner is not None
        and value.wrapper is not None
        and value.wrapper.level == level
        and value.wrapper.kind in kinds
        else value
        for value in moment.values
    )


def _batched_keys(moment: Moment) -> DispatchKeySet:
    """Keys that a batching rule excludes for its calls."""
    return moment.maker.known(*(BATCHED_KEYS if moment.slot == BATCHED_NESTED else (BATCHED,)))


def grad_wrapper(moment: Moment) -> KernelStep:
    """Wrappers of transforms that are over are taken off (``dead_tensor_wrapper_fallback``)."""
    values = tuple(_without_wrapper(value) for value in moment.values)
    if values == moment.values:
        message = "Should have at least one dead wrapper"
        return raises(failed_assert(ErrorKind.TRANSFORM, "unwrapped_count > 0", "TensorWrapper.cpp", message))
    return calls_anew(moment.thread, values)


def _inside(maker: TensorMaker, layer: Layer, keys: LocalKeys) -> LocalKeys:
    """The keys inside of a transform (``setup_dispatch_key_tls``)."""
    own = _own_keys(maker, layer.kind)
    excluded = (keys.excluded | (_all_layer_keys(maker) - own)) - own
    also = {ContextKind.VMAP: VMAP_MODE, ContextKind.FUNCTIONALIZE: FUNCTIONALIZE}.get(layer.kind)
    included = keys.included | maker.known(also) if also else keys.included
    return LocalKeys(included, excluded)


def _own_keys(maker: TensorMaker, kind: ContextKind) -> DispatchKeySet:
    """``keysForEnteringDynamicLayer``."""
    if kind is ContextKind.VMAP:
        return maker.known(*BATCHED_KEYS)
    if kind is ContextKind.FUNCTIONALIZE:
        return maker.known(FUNCTIONALIZE)
    return maker.autograd_keys | maker.known(AD_INPLACE_OR_VIEW)


def _all_layer_keys(maker: TensorMaker) -> DispatchKeySet:
    """``all_dynlayer_keyset``, without the back key: the functionalities from the back key to the front key.

    Autocast keys and the one of vmap's random checks are left alone.
    """
    universe = maker.universe
    first, last = universe.functionalities.index(BACK), universe.functionalities.index(FRONT)
    between = universe.functionalities[first + 1 : last + 1]
    return maker.known(*(key for key in between if not key.startswith(_AUTOCAST) and key != VMAP_MODE))


def _unwrap(value: Value, layer: Layer) -> Value:
    is_own = value.wrapper == Wrapper(WrapperKind.GRAD, layer.level)
    return value.inner if is_own and value.inner is not None else value


def no_strides(value: Value) -> str | None:
    """Error text for a tensor without strides that is wrapped for grad; None for others."""
    spec = value.spec
    if is_functional(value) and value.inner is not None:
        return no_strides(value.inner)
    if spec is None or spec.subclass is not None or spec.fake is not None:
        return None
    if value.wrapper is not None:
        is_nested = value.wrapper.kind is WrapperKind.BATCHED and spec.nested
        return "sizes() is not supported for batched nested tensors" if is_nested else None
    if spec.nested:
        return _no_nested("strides")
    name = _COMPRESSED.get(spec.layout)
    return name and f"Sparse {name} tensors do not have strides"


def _no_nested(what: str) -> str:
    return f"Internal error: NestedTensorImpl doesn't support {what}. Please file an issue."


def _is_live_wrapper(value: Value) -> bool:
    if value.wrapper is None or is_functional(value):
        return False
    return value.wrapper.kind is WrapperKind.BATCHED or value.wrapper.level is not None


def _unwrap_dead(value: Value, thread: Thread) -> Value:
    """``unwrapIfDead``: without the grad wrapper of a transform that is over."""
    wrapper = value.wrapper
    if wrapper is None or value.inner is None or wrapper.kind is not WrapperKind.GRAD:
        return value
    is_alive = wrapper.level is not None and wrapper.level <= len(thread.layers)
    return value if is_alive else value.inner


def _without_wrapper(value: Value) -> Value:
    if value.wrapper is None or value.inner is None or value.wrapper.kind is not WrapperKind.GRAD:
        return value
    return value.inner


def _mutates_capture(moment: Moment, values: tuple[Value, ...], layer: Layer) -> bool:
    """``checkForInvalidMutationOnCaptures``."""
    if not is_in_place(moment.schema) or not values:
        return False
    return values[0].wrapper != Wrapper(WrapperKind.GRAD, layer.level)


def _captured_mutation(moment: Moment) -> Error:
    return refused(
        ErrorKind.TRANSFORM,
        "During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation "
        f"({moment.name}) that would mutate a captured Tensor. This is not supported; please rewrite the function "
        "being transformed to explicitly accept the mutated Tensor(s) as inputs.",
    )


def _offending_level(values: tuple[Value, ...]) -> int | None:
    """The level at which another argument of an in-place operator is batched and the one written to is not."""
    levels = [
        value.wrapper.level if value.wrapper is not None and value.wrapper.kind is WrapperKind.BATCHED else None
        for value in values
    ]
    return next((level for level in levels[1:] if level is not None and level != levels[0]), None)


def _in_place_text(name: str, level: int) -> str:
    return (
        f"vmap: {name}(self, *extra_args) is not possible because there exists a Tensor `other` in extra_args that has "
        "more elements than `self`. This happened due to `other` being vmapped over but `self` not being vmapped over "
        f"at level {level}. Please try to use out-of-place operators instead of {name}. If said operator is being "
        "called inside the PyTorch framework, please file a bug report instead."
    )


def _no_rule(text: str) -> KernelStep:
    return raises(refused(ErrorKind.TRANSFORM, text))
